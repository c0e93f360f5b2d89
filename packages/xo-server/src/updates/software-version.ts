/** Members of `software_version` that updates change. */
const MEMBERS = [
  "product_version",
  "build_number",
  "xapi_build",
  "xen",
  "date",
];

/**
 * What a host runs, as one text to compare and to show: `8.3.0, xapi 25.6.0, xen
 * 4.17.5-20`.
 * @param software XAPI's `software_version`
 */
export function softwareVersion(software: unknown): string {
  if (typeof software !== "object" || software === null) return "";
  const members = software as Readonly<Record<string, unknown>>;
  return MEMBERS.flatMap((name) => {
    const value = members[name];
    if (typeof value !== "string" || value === "") return [];
    if (name === "product_version") return [value];
    return [`${name.replace(/_(build|number)$/, "")} ${value}`];
  }).join(", ");
}
