/** The id in an address such as `#/consoles/<id>`; undefined: it is that of another page. */
export function consoleIn(hash: string): string | undefined {
  const [, id] = /^#\/consoles\/([^/?]+)\/?$/.exec(hash) ?? [];
  try {
    return id === undefined ? undefined : decodeURIComponent(id);
  } catch {
    // Half an escape: it is nobody's id, and the server will say so.
    return id;
  }
}
