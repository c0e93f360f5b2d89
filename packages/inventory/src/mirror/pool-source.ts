import type { Xapi, XapiState } from "@xo-server/xen-api";

/**
 * The part of a pool's client that the inventory uses; `Xapi` of
 * packages/xen-api implements it.
 */
export interface PoolSource extends Pick<
  Xapi,
  "listableClasses" | "injectToken" | "eventPosition" | "listRecords" | "events"
> {
  readonly state: { readonly name: XapiState["name"] };
  onState(
    listener: (state: { readonly name: XapiState["name"] }) => void,
  ): () => void;
}
