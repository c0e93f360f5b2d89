/** Whether it is a URL that the server can download a file from. */
export function isHttpUrl(text: string): boolean {
  return /^https?:$/.test(parse(text)?.protocol ?? "");
}

/** Name of the file at a URL; empty: the URL has none. */
export function fileNameOf(url: string): string {
  const name = parse(url)?.pathname.split("/").at(-1) ?? "";
  try {
    return decodeURIComponent(name);
  } catch {
    // A percent sign that encodes nothing.
    return name;
  }
}

function parse(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    // Not a URL.
    return undefined;
  }
}
