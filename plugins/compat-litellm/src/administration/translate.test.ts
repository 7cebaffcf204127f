import { describe, expect, it } from "vitest";
import { KEY_RULES } from "./keys.ts";
import { isUnset, translate } from "./translate.ts";

describe("a translated record", () => {
  it("has limits by model in one map", () => {
    const body = {
      model_rpm_limit: { a: 5, b: 6 },
      model_tpm_limit: { a: 7 },
      model_max_budget: {
        a: { budget_limit: 2, time_period: "1d" },
        c: { max_budget: 3, budget_duration: "7d", rpm_limit: 1 },
        d: 4,
      },
    };
    expect(translate(body, KEY_RULES, true).body).toEqual({
      per_model: {
        a: { max_budget: 2, budget_duration: "1d", rpm_limit: 5, tpm_limit: 7 },
        b: { rpm_limit: 6 },
        c: { max_budget: 3, budget_duration: "7d", rpm_limit: 1 },
        d: { max_budget: 4 },
      },
    });
  });

  it("leaves out what is unset of a new record, and clears it of another", () => {
    const body = { team_id: "", max_budget: null, models: [], duration: "-1" };
    expect(translate(body, KEY_RULES, true).body).toEqual({});
    expect(translate(body, KEY_RULES, false).body).toEqual({
      team_id: null,
      max_budget: null,
      models: [],
      duration: null,
    });
  });

  it("keeps a budget of 0, which refuses", () => {
    expect(translate({ max_budget: 0 }, KEY_RULES, true).body).toEqual({ max_budget: 0 });
    expect(isUnset(0)).toBe(false);
  });

  it("names what it leaves out, and refuses what would restrict", () => {
    expect(translate({ permissions: { a: true }, config: {} }, KEY_RULES, true).ignored).toEqual([
      "permissions",
    ]);
    expect(() => translate({ tpd_limit: 5 }, KEY_RULES, true)).toThrow(/tpd_limit/);
    expect(() => translate({ tpd_limit: null }, KEY_RULES, true)).not.toThrow();
  });
});
