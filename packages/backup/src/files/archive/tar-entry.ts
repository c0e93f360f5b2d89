const RECORD = 512;
/** Longest name in a header, in bytes. */
const MAX_NAME = 100;
/** Largest size in a header. */
const MAX_SIZE = 8 ** 11 - 1;
const MAX_TIME = 8 ** 11 - 1;

const TYPE = { file: "0", link: "2", folder: "5", extended: "x" } as const;

interface TarEntry {
  readonly path: string;
  readonly type: Exclude<keyof typeof TYPE, "extended">;
  readonly mode: number;
  /** Bytes of a file. */
  readonly size: number;
  /** Milliseconds since the epoch. */
  readonly modified: number;
  /** Of a link. */
  readonly target?: string | undefined;
}

/** The header of an entry of a tar archive (POSIX.1-2001, pax). What does not fit is in a record before it. */
export function tarHeader(entry: TarEntry): Buffer {
  const { path, type, target = "", size, modified } = entry;
  const name = type === "folder" ? `${path}/` : path;
  const records: [string, string][] = [];
  if (!fits(name)) records.push(["path", name]);
  if (!fits(target)) records.push(["linkpath", target]);
  if (size > MAX_SIZE) records.push(["size", String(size)]);
  const seconds = Math.floor(modified / 1000);
  if (modified % 1000 !== 0 || seconds < 0 || seconds > MAX_TIME)
    records.push(["mtime", String(modified / 1000)]);
  const header = ustarHeader({ ...entry, path: name });
  if (records.length === 0) return header;
  const content = Buffer.from(records.map(recordOf).join(""));
  const extended = ustarHeader({
    path: "PaxHeader",
    type: "extended",
    mode: 0o644,
    size: content.length,
    modified: 0,
  });
  return Buffer.concat([extended, content, padding(content.length), header]);
}

/** What fills up the last record of a file. @param size bytes */
export function padding(size: number): Buffer {
  return Buffer.alloc((RECORD - (size % RECORD)) % RECORD);
}

function fits(name: string): boolean {
  return /^[\x20-\x7e]*$/.test(name) && name.length <= MAX_NAME;
}

/** `length key=value`, where the length counts itself. */
function recordOf([key, value]: readonly [string, string]): string {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  let length = rest + String(rest).length;
  if (String(length).length > String(rest).length)
    length = rest + String(length).length;
  return `${length} ${key}=${value}\n`;
}

function ustarHeader({
  path,
  type,
  mode,
  size,
  modified,
  target = "",
}: Omit<TarEntry, "type"> & { readonly type: keyof typeof TYPE }): Buffer {
  const header = Buffer.alloc(RECORD);
  const octal = (value: number, at: number, digits: number) => {
    const text = Math.max(0, value).toString(8).padStart(digits, "0");
    header.write(text.slice(-digits), at, "latin1");
  };
  Buffer.from(path).copy(header, 0, 0, MAX_NAME);
  octal(mode, 100, 7);
  octal(0, 108, 7);
  octal(0, 116, 7);
  octal(Math.min(size, MAX_SIZE), 124, 11);
  octal(Math.min(Math.floor(modified / 1000), MAX_TIME), 136, 11);
  header.write(TYPE[type], 156, "latin1");
  Buffer.from(target).copy(header, 157, 0, MAX_NAME);
  header.write("ustar\0" + "00", 257, "latin1");
  // The sum of all bytes, with spaces in its place.
  header.write(" ".repeat(8), 148, "latin1");
  const sum = header.reduce((all, byte) => all + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return header;
}
