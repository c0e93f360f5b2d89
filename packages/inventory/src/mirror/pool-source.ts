import type { Xapi, XapiState } from "@xo-server/xen-api";

/** What the inventory needs of a pool's client; Xapi of xen-api is one. */
export interface PoolSource extends Pick<
  Xapi,
  "listableClasses" | "injectToken" | "listRecords" | "events"
> {
  readonly state: { readonly name: XapiState["name"] };
  onState(
    listener: (state: { readonly name: XapiState["name"] }) => void,
  ): () => void;
}
