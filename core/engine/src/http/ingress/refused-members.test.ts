import { expect, it } from "vitest";
import { readJson } from "./bytes/json.ts";

const read = (text: string) => readJson(Buffer.from(text));

it.each([
  ['{"__proto__":1}', "__proto__"],
  ['{"a":{"__proto__":{"x":1}}}', "__proto__"],
  ['{"a":[[{"b":[{"\\u005f_proto__":1}]}]]}', "__proto__"],
  ['{"a":{"metadata":{"constructor":1}}}', "constructor"],
  ['{"tools":[{"function":{"name":"f","prototype":{}}}]}', "prototype"],
  ['{"tools":{"function":{"parameters":{"prototype":{}}}}}', "prototype"],
  ['{"messages":[{"__proto__":{"polluted":"yes"},"role":"user"}]}', "__proto__"],
  ['{"a":{"b":{"c":{"d":{"e":{"f":{"__proto__":1}}}}}}}', "__proto__"],
])("%s is refused by the name of the member", (text, param) => {
  expect(() => read(text)).toThrow(expect.objectContaining({ code: "invalid_field", param }));
});

it.each([
  '{"metadata":{"constructor":"x","__proto__":1}}',
  '{"tools":[{"function":{"parameters":{"properties":{"__proto__":{}}}}}]}',
  '{"functions":[{"parameters":{"constructor":{}}}]}',
  '{"response_format":{"json_schema":{"schema":{"properties":{"prototype":{}}}}}}',
  '{"messages":[{"content":"a constructor, its prototype and __proto__"}]}',
])("%s is accepted: the content of schemas and notes is the client's", (text) => {
  expect(() => read(text)).not.toThrow();
});
