import type { Ref } from "@xo-server/model";
import type { Readable } from "node:stream";
import type {
  AsyncCallOptions,
  CallOptions,
  EventsOptions,
  ListOptions,
  PutStreamOptions,
  StreamOptions,
  Xapi,
} from "./xapi.js";

/** Base of clients that add something to some calls of another client, and pass the others on unchanged. */
export class DelegatingXapi implements Xapi {
  /** The client that makes the calls. */
  protected readonly xapi: Xapi;

  constructor(xapi: Xapi) {
    this.xapi = xapi;
  }

  get label() {
    return this.xapi.label;
  }

  get state() {
    return this.xapi.state;
  }

  get counters() {
    return this.xapi.counters;
  }

  onState(listener: Parameters<Xapi["onState"]>[0]) {
    return this.xapi.onState(listener);
  }

  connect(options?: Parameters<Xapi["connect"]>[0]) {
    return this.xapi.connect(options);
  }

  disconnect() {
    return this.xapi.disconnect();
  }

  call(method: string, params?: readonly unknown[], options?: CallOptions) {
    return this.xapi.call(method, params, options);
  }

  callAsync(
    method: string,
    params?: readonly unknown[],
    options?: AsyncCallOptions,
  ) {
    return this.xapi.callAsync(method, params, options);
  }

  watchTask(task: Ref, options?: Parameters<Xapi["watchTask"]>[1]) {
    return this.xapi.watchTask(task, options);
  }

  session(call?: Parameters<Xapi["session"]>[0]) {
    return this.xapi.session(call);
  }

  endSession(session: string, signal: AbortSignal) {
    return this.xapi.endSession(session, signal);
  }

  listRecords(className: string, options: ListOptions) {
    return this.xapi.listRecords(className, options);
  }

  listableClasses() {
    return this.xapi.listableClasses();
  }

  injectToken() {
    return this.xapi.injectToken();
  }

  eventPosition() {
    return this.xapi.eventPosition();
  }

  events(options?: EventsOptions) {
    return this.xapi.events(options);
  }

  getStream(options: StreamOptions) {
    return this.xapi.getStream(options);
  }

  putStream(body: Readable, options: PutStreamOptions) {
    return this.xapi.putStream(body, options);
  }

  streamTarget(options: StreamOptions) {
    return this.xapi.streamTarget(options);
  }

  nbdSocket(server: Parameters<Xapi["nbdSocket"]>[0]) {
    return this.xapi.nbdSocket(server);
  }

  connectStream(options: StreamOptions) {
    return this.xapi.connectStream(options);
  }

  openMember(member: string, signal: AbortSignal) {
    return this.xapi.openMember(member, signal);
  }
}
