/** What an archive does not have, and why. */
export interface ArchiveProblem {
  readonly path: string;
  readonly problem: string;
}

const NAME = "NOT-RESTORED.txt";
/** Problems that are listed at most. */
const MAX_LISTED = 10_000;

/** A text file for the end of an archive. @returns undefined if the archive is complete */
export function problemList(
  problems: readonly ArchiveProblem[],
): { readonly path: string; readonly content: Buffer } | undefined {
  if (problems.length === 0) return undefined;
  const lines = problems
    .slice(0, MAX_LISTED)
    .map(({ path, problem }) => `${path}: ${problem}`);
  const rest = problems.length - lines.length;
  if (rest > 0) lines.push(`and ${rest} more`);
  const text = `These files could not be read from the backup:\n${lines.join("\n")}\n`;
  return { path: NAME, content: Buffer.from(text) };
}
