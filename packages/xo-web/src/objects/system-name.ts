/** The name of a guest operating system, without what Windows appends: `|`, its directory and partition. */
export function systemName(name: string): string {
  return name.split("|", 1)[0]!;
}

const shortNames: readonly (readonly [long: string, short: string])[] = [
  ["Red Hat Enterprise Linux", "RHEL"],
  ["SUSE Linux Enterprise Server", "SLES"],
  ["Debian GNU/Linux", "Debian"],
  ["Microsoft Windows", "Windows"],
];

/** The name for a narrow column: `Debian 13` of `Debian GNU/Linux 13 (trixie)`. */
export function shortSystemName(name: string): string {
  const plain = systemName(name).replace(/ \([^)]*\)$/, "");
  const found = shortNames.find(([long]) => plain.startsWith(long));
  return found === undefined ? plain : found[1] + plain.slice(found[0].length);
}
