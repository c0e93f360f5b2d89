/** Downloads a file in the browser. */
export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // After the browser has started the download.
  setTimeout(() => {
    URL.revokeObjectURL(url);
  }, 10_000);
}

/** A file name that is valid on all systems. */
export function fileName(...parts: string[]): string {
  return parts
    .join("-")
    .replace(/[^\p{L}\p{N}.-]+/gu, "-")
    .replace(/^[-.]+|-+$/g, "")
    .slice(0, 120);
}
