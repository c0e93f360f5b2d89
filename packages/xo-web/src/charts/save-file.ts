/** Gives a file to whoever is in front of the page. */
export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // Once the browser has taken it.
  setTimeout(() => {
    URL.revokeObjectURL(url);
  }, 10_000);
}

/** A name that every system takes. */
export function fileName(...parts: string[]): string {
  return parts
    .join("-")
    .replace(/[^\p{L}\p{N}.-]+/gu, "-")
    .replace(/^[-.]+|-+$/g, "")
    .slice(0, 120);
}
