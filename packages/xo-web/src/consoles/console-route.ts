/** The id in an address such as `#/consoles/<id>`; undefined: it is that of another page. */
export function consoleIn(hash: string): string | undefined {
  const [, id] = /^#\/consoles\/([^/?]+)\/?$/.exec(hash) ?? [];
  return id === undefined ? undefined : decodeURIComponent(id);
}
