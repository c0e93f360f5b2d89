const families = [
  ["windows", /windows/i],
  ["debian", /debian|gooroom/i],
  ["ubuntu", /ubuntu/i],
  ["redHat", /red ?hat|centos|alma|rocky|oracle|scientific|fedora|neokylin/i],
  ["suse", /suse|sle[sd]/i],
  ["bsd", /bsd/i],
  ["linux", /linux|coreos|alpine|arch/i],
] as const;

type OsFamily = (typeof families)[number][0] | "rest";

/** The operating system family of a template, by its name. */
export function familyOf(name: string): OsFamily {
  return families.find(([, pattern]) => pattern.test(name))?.[0] ?? "rest";
}
