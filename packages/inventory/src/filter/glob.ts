/**
 * Compiles a pattern in which `*` matches any text. Not anchored,
 * case-insensitive. The parts between the stars are searched one after the
 * other from the left, so that the time is linear in the text for every
 * pattern.
 */
export function createGlob(pattern: string): (text: string) => boolean {
  const parts = pattern
    .toLowerCase()
    .split("*")
    .filter((part) => part !== "");
  return (text) => {
    const lower = text.toLowerCase();
    let at = 0;
    for (const part of parts) {
      const found = lower.indexOf(part, at);
      if (found === -1) return false;
      at = found + part.length;
    }
    return true;
  };
}
