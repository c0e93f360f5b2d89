/** Controls that change the direction of text: they can make a name read as another one. */
const directionControls = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** A name without direction controls, as it is shown. */
export function plainName(name: string): string {
  return name.replaceAll(directionControls, "");
}
