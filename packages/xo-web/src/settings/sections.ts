/** The parts of the settings, as they stand in the list beside them. */
export const sectionGroups = [
  { group: "you", sections: ["account"] },
  { group: "pools", sections: ["servers"] },
  { group: "people", sections: ["users", "groups", "roles", "tokens"] },
  { group: "work", sections: ["jobs", "alarms"] },
  { group: "server", sections: ["performance", "audit", "configuration"] },
] as const;

export type SectionGroup = (typeof sectionGroups)[number]["group"];
export type Section = (typeof sectionGroups)[number]["sections"][number];

/** Everybody has an account, and may see how the server is doing. */
const forAll: ReadonlySet<Section> = new Set(["account", "performance"]);

export interface VisibleGroup {
  readonly group: SectionGroup;
  readonly sections: readonly Section[];
}

/** What is not for them is not offered. */
export function visibleGroups(isAdmin: boolean): readonly VisibleGroup[] {
  return sectionGroups
    .map(({ group, sections }): VisibleGroup => {
      const all: readonly Section[] = sections;
      return {
        group,
        sections: all.filter((one) => isAdmin || forAll.has(one)),
      };
    })
    .filter(({ sections }) => sections.length > 0);
}

/** The section of an address; undefined: there is none, or not for them. */
export function findSection(
  name: string | undefined,
  isAdmin: boolean,
): Section | undefined {
  const visible = visibleGroups(isAdmin).flatMap(({ sections }) => sections);
  if (name === undefined || name === "") return isAdmin ? "servers" : "account";
  return visible.find((section) => section === name);
}
