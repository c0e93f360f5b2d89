import { valueAt } from "../filter/property-path.js";
import { commonProperties, propertiesOf } from "../views/properties.js";
import type { View, ViewObject, ViewSource } from "../views/view.js";
import type { ObjectReader } from "./catalog.js";

/** An object that is built from its record as far as it is read. */
export class RowReader implements ObjectReader {
  readonly #identity: { readonly id: string; readonly type: string };
  readonly #view: View;
  readonly #source: ViewSource;
  #object: ViewObject | undefined;

  /** @param identity its members are read when they are needed */
  constructor(
    view: View,
    source: ViewSource,
    identity: { readonly id: string; readonly type: string },
  ) {
    this.#identity = identity;
    this.#view = view;
    this.#source = source;
  }

  get id(): string {
    return this.#identity.id;
  }

  get type(): string {
    return this.#identity.type;
  }

  value(path: readonly string[]): unknown {
    const [name = "", ...rest] = path;
    if (rest.length > 0 && this.#object === undefined) {
      const read = this.#view.properties?.[path.join(".")];
      if (read !== undefined) return read(this.#source);
    }
    const value = this.#property(name);
    return rest.length === 0 ? value : valueAt(value, rest);
  }

  object(): ViewObject {
    return (this.#object ??= this.#build());
  }

  #property(name: string): unknown {
    switch (name) {
      case "id":
        return this.id;
      case "type":
        return this.type;
      case "$pool":
      case "$poolId":
        return this.#source.links.poolId;
      case "uuid":
        return uuidOf(this.#source);
      case "_xapiRef":
        return this.#source.ref;
    }
    const { properties } = this.#view;
    if (this.#object === undefined) {
      if (properties !== undefined && Object.hasOwn(properties, name))
        return properties[name]!(this.#source);
      // Nothing is built to learn that the object has no such property.
      if (!mayHave(this.type, name)) return undefined;
    }
    return valueAt(this.object(), [name]);
  }

  /** Builds the object, with the fields that every object has. */
  #build(): ViewObject {
    const { ref, links } = this.#source;
    const view = this.#view.build(this.#source);
    const { poolId } = links;
    const uuid = uuidOf(this.#source);
    view["id"] = this.id;
    view["type"] = this.type;
    if (uuid !== undefined) view["uuid"] = uuid;
    if (poolId !== undefined) {
      view["$pool"] = poolId;
      view["$poolId"] = poolId;
    }
    view["_xapiRef"] = ref;
    return view;
  }
}

function uuidOf({ record: { uuid } }: ViewSource): string | undefined {
  return typeof uuid === "string" ? uuid : undefined;
}

/** Whether a property is read from the record without building the object. */
export function isReadSingly(view: View, name: string): boolean {
  return (
    commonProperties.includes(name) ||
    (view.properties !== undefined && Object.hasOwn(view.properties, name))
  );
}

/** Whether a property of an object of a type is read, or known to be absent, without building the object. */
export function isReadWithoutObject(
  view: View,
  type: string,
  name: string,
): boolean {
  return isReadSingly(view, name) || !mayHave(type, name);
}

/** Whether objects of a type may have a property. */
function mayHave(type: string, name: string): boolean {
  return propertiesOf(type)?.has(name) !== false;
}

/** A reader of an object that has been built. */
export function readerOf(object: ViewObject): ObjectReader {
  return {
    value: (path) => valueAt(object, path),
    object: () => object,
  };
}
