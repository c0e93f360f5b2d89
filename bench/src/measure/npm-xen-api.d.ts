/** The part of npm's `xen-api` (it ships no types) that the peer rows touch. */
declare module "xen-api" {
  export interface Xapi {
    connect(): Promise<void>;
    disconnect(): Promise<void>;
    readonly objectsFetched: Promise<void>;
    readonly objects: { readonly size: number };
  }
  export function createClient(options: {
    url: string;
    auth: { user: string; password: string };
    transport: "auto" | "json-rpc" | "xml-rpc";
    allowUnauthorized: boolean;
    watchEvents: boolean;
  }): Xapi;
}
