import fc from "fast-check";
import { expect, it } from "vitest";
import { Listed, OpenList } from "./open-list.ts";

class Member extends Listed {
  readonly name: number;
  constructor(name: number) {
    super();
    this.name = name;
  }
}

it("holds its members in the order of their joining, whichever leaves", () => {
  const changes = fc.array(fc.tuple(fc.boolean(), fc.nat(9)), { maxLength: 60 });
  fc.assert(
    fc.property(changes, (steps) => {
      const [list, members] = [
        new OpenList<Member>(),
        Array.from({ length: 10 }, (_, name) => new Member(name)),
      ];
      let expected: number[] = [];
      for (const [isAdding, name] of steps) {
        const member = members[name]!;
        const isIn = expected.includes(name);
        expect(list.has(member)).toBe(isIn);
        const hasLeft = !isAdding && list.delete(member);
        expect(hasLeft).toBe(!isAdding && isIn);
        if (isAdding && !isIn) list.add(member);
        expected = expected.filter((other) => isAdding || other !== name);
        if (isAdding && !isIn) expected.push(name);
        expect([...list].map((each) => each.name)).toEqual(expected);
        expect([list.size, list.oldest?.name]).toEqual([expected.length, expected[0]]);
      }
    }),
  );
});

it("leaves no link in a member that has left", () => {
  const [list, first, second] = [new OpenList<Member>(), new Member(1), new Member(2)];
  list.add(first);
  list.add(second);
  list.delete(first);
  list.delete(second);
  expect([first.before, first.after, second.before, second.after]).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

it("hands out its members while they leave", () => {
  const [list, members] = [new OpenList<Member>(), [1, 2, 3].map((name) => new Member(name))];
  for (const member of members) list.add(member);
  const seen: number[] = [];
  for (const member of list) {
    seen.push(member.name);
    list.delete(member);
  }
  expect([seen, list.size]).toEqual([[1, 2, 3], 0]);
});
