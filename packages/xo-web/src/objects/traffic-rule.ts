/** Traffic that hosts of XCP-ng allow or drop, of a network or VIF. `ipRange` is an IPv4 address or network. */
export type TrafficRule = Readonly<{
  allow: boolean;
  protocol: string;
  port?: number;
  ipRange: string;
  direction: string;
}>;
