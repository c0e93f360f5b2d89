/** The sections of the settings in the order of their list. */
const sectionGroups = [
  { group: "you", sections: ["account"] },
  { group: "pools", sections: ["servers"] },
  {
    group: "access",
    sections: [
      "users",
      "groups",
      "roles",
      "resource-sets",
      "ip-pools",
      "sign-in",
      "tokens",
    ],
  },
  {
    group: "work",
    sections: ["jobs", "alarms", "usage-reports", "cloud-configs"],
  },
  {
    group: "server",
    sections: ["performance", "cluster", "audit", "configuration"],
  },
] as const;

type SectionGroup = (typeof sectionGroups)[number]["group"];
export type SettingsSection =
  (typeof sectionGroups)[number]["sections"][number];

/** Sections that do not need the rights of an administrator. */
const forAll: ReadonlySet<SettingsSection> = new Set([
  "account",
  "resource-sets",
  "performance",
]);

interface VisibleGroup {
  readonly group: SectionGroup;
  readonly sections: readonly SettingsSection[];
}

/** The sections that a user may open. */
export function visibleGroups(isAdmin: boolean): readonly VisibleGroup[] {
  return sectionGroups
    .map(({ group, sections }): VisibleGroup => {
      const all: readonly SettingsSection[] = sections;
      return {
        group,
        sections: all.filter((one) => isAdmin || forAll.has(one)),
      };
    })
    .filter(({ sections }) => sections.length > 0);
}

/** The section of an address; undefined: it does not exist or is not permitted. */
export function findSection(
  name: string | undefined,
  isAdmin: boolean,
): SettingsSection | undefined {
  const visible = visibleGroups(isAdmin).flatMap(({ sections }) => sections);
  if (name === undefined || name === "") return isAdmin ? "servers" : "account";
  return visible.find((section) => section === name);
}
