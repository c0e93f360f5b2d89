/** The folder for damaged files that a repair has moved. */
export const QUARANTINE = "quarantine";

/** @param digest hexadecimal SHA-256 of what was read from it */
export function quarantinedFile(digest: string, name: string): string {
  return `${QUARANTINE}/${digest}-${name.replaceAll("/", "-")}`;
}

/** Whether a file in quarantine/ had this name. */
export function isQuarantinedAs(quarantined: string, name: string): boolean {
  return quarantined.endsWith(`-${name.replaceAll("/", "-")}`);
}
