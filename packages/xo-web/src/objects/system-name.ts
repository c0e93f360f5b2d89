/** The name of a guest system. Windows appends its directory and partition, behind bars. */
export function systemName(name: string): string {
  return name.split("|", 1)[0]!;
}
