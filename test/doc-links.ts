import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** A link to a file of the repository, or to a heading, that does not exist. */
export interface BrokenLink {
  /** The document with the link, relative to the root. */
  readonly file: string;
  readonly target: string;
}

/**
 * Relative links of a Markdown document, without those in code.
 * @returns targets as written, such as `jobs.md#schedules`
 */
export function linksOf(markdown: string): string[] {
  const prose = markdown
    .replace(/^(`{3,}).*?^\1/gms, "")
    .replace(/`[^`\n]*`/g, "");
  return [...prose.matchAll(/\]\(([^()\s]+)\)/g)]
    .map(([, target = ""]) => target)
    .filter((target) => !/^[a-z][a-z+.-]*:/i.test(target));
}

/** Ids of headings as GitHub makes them: lower case, without punctuation, with hyphens for blanks. */
export function headingsOf(markdown: string): Set<string> {
  const counts = new Map<string, number>();
  const prose = markdown.replace(/^(`{3,}).*?^\1/gms, "");
  for (const [, heading = ""] of prose.matchAll(/^#{1,6} +(.+?) *$/gm)) {
    const id = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replace(/\s/g, "-");
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return new Set(
    [...counts].flatMap(([id, count]) =>
      Array.from({ length: count }, (_, i) => (i === 0 ? id : `${id}-${i}`)),
    ),
  );
}

/** @param files Markdown documents, relative to the root */
export function brokenLinks(
  root: string,
  files: readonly string[],
): BrokenLink[] {
  const broken: BrokenLink[] = [];
  for (const file of files) {
    const markdown = readFileSync(join(root, file), "utf8");
    for (const target of linksOf(markdown)) {
      const [path = "", heading] = target.split("#");
      const to = path === "" ? file : join(dirname(file), path);
      const isInside = !relative(root, join(root, to)).startsWith("..");
      const exists = isInside && existsSync(join(root, to));
      const hasHeading =
        heading === undefined ||
        !to.endsWith(".md") ||
        (exists &&
          headingsOf(readFileSync(join(root, to), "utf8")).has(heading));
      if (!exists || !hasHeading) broken.push({ file, target });
    }
  }
  return broken;
}
