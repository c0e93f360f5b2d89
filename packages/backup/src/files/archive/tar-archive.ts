import { padding, tarHeader } from "./tar-entry.js";
import { problemList, type ArchiveProblem } from "./problem-list.js";
import type { ArchiveItem } from "./walk-files.js";

const MODES = { file: 0o644, folder: 0o755, link: 0o777, other: 0 };

/** A tar archive: each byte is sent when it was read. @throws errors of the content */
export async function* tarArchive(
  items: AsyncIterable<ArchiveItem>,
): AsyncGenerator<Buffer, void> {
  const problems: ArchiveProblem[] = [];
  for await (const item of items)
    if ("problem" in item) problems.push(item);
    else yield* entryOf(item);
  const list = problemList(problems);
  if (list !== undefined) {
    const { path, content } = list;
    const size = content.length;
    yield tarHeader({ path, type: "file", mode: 0o644, size, modified: 0 });
    yield content;
    yield padding(size);
  }
  yield Buffer.alloc(1024);
}

async function* entryOf({
  path,
  node,
  content,
  target,
}: Extract<ArchiveItem, { node: unknown }>): AsyncGenerator<Buffer, void> {
  const { kind, modified, mode = MODES[kind] } = node;
  if (kind === "other") return;
  const size = kind === "file" ? node.size : 0;
  yield tarHeader({ path, type: kind, mode, size, modified, target });
  if (content === undefined) return;
  yield* content;
  yield padding(size);
}
