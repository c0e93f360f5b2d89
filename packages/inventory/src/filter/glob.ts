/**
 * A text in which `*` stands for anything. Not anchored, case ignored. The parts
 * between the stars are looked for one after the other, each as far left as it
 * stands: time grows with the text, whatever the pattern.
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
