/** Text as it is written between tags, or in an attribute. */
export function escapeXml(text: string): string {
  return text.replaceAll(
    /[&<>"']/g,
    (character) => `&#${character.charCodeAt(0)};`,
  );
}
