/** The name of a guest operating system, without what Windows appends: `|`, its directory and partition. */
export function systemName(name: string): string {
  return name.split("|", 1)[0]!;
}
