import { POLICY, type PolicyAction } from "@sluice/contract";
import { describe, expect, it } from "vitest";
import { isAllowedOn, OBJECT_RULES } from "./object-rules.ts";

describe("the rules of objects", () => {
  it("are those of the gateway", () => {
    const own = Object.entries(OBJECT_RULES).map(([action, { role, reach, isOwners }]) => [
      action,
      role,
      reach ?? "any",
      isOwners ?? false,
    ]);
    const gateways = Object.keys(OBJECT_RULES).map((action) => {
      const { role, reach, isAtEach, owners } = POLICY[action as PolicyAction];
      return [action, role, isAtEach === true ? "each" : reach, owners.includes("user")];
    });
    expect(own).toEqual(gateways);
  });

  it("count roles at the places of an object alone", () => {
    const at = (role: "viewer" | "keys" | "admin", place: string, user: string | null = null) => ({
      grants: [{ role, at: place }],
      user,
    });
    const key = { team: "support", organizations: [null], user: "ann" };
    expect(isAllowedOn("key.update", key, at("keys", "whole"))).toBe(true);
    expect(isAllowedOn("key.update", key, at("keys", "team:support"))).toBe(true);
    expect(isAllowedOn("key.update", key, at("keys", "team:search"))).toBe(false);
    expect(isAllowedOn("key.update", key, at("viewer", "whole", "ann"))).toBe(false);
    expect(isAllowedOn("key.block", key, at("viewer", "whole", "ann"))).toBe(true);
    expect(isAllowedOn("key.block", key, at("viewer", "whole", "ben"))).toBe(false);
    const team = { team: "support", organizations: ["acme"], self: "team:support" };
    expect(isAllowedOn("team.update", team, at("keys", "team:support"))).toBe(true);
    expect(isAllowedOn("team.unblock", team, at("keys", "team:support"))).toBe(false);
    expect(isAllowedOn("team.unblock", team, at("keys", "organization:acme"))).toBe(true);
    expect(isAllowedOn("team.unblock", team, at("keys", "organization:globex"))).toBe(false);
    const user = { organizations: ["acme", "globex"], user: "ann" };
    expect(isAllowedOn("user.update", user, at("admin", "organization:acme"))).toBe(false);
    expect(isAllowedOn("organization.delete", team, at("admin", "organization:acme"))).toBe(false);
  });
});
