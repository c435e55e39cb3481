/** Traces that are right by construction: random clients of the model, with intervals around the moments at which things happened. */
import type { RowImage, TraceOperation, TraceOperationKind } from '../trace/trace.ts';
import type { Mechanisms } from './mechanisms.ts';
import { eventsOf, Model } from './model.test-support.ts';

export type Random = (n: number) => number;

export interface SimulationShape {
  readonly sessions: number;
  readonly transactions: number;
  readonly operations: number;
  readonly keys: number;
  /** Intervals reach up to so far beyond the moments. */
  readonly spread: number;
  /** Are values written more than once? */
  readonly repeats?: boolean;
  /** Are there savepoints? */
  readonly savepoints?: boolean;
  /** Are rows deleted? */
  readonly deletes?: boolean;
}

interface Client {
  readonly session: string;
  started: number;
  /** Of the operation that is under way. */
  events: ReturnType<typeof eventsOf>;
  current: TraceOperation | null;
  startedAt: number;
  earlier: TraceOperation[];
  left: number;
  lastEnd: number;
  savepoints: readonly string[];
}

const keyNames = ['x', 'y', 'z', 'u', 'v', 'w'];

export function initialOf(keys: number): Map<string, RowImage> {
  return new Map(keyNames.slice(0, keys).map((key) => [key, 0]));
}

export function simulate(mechanisms: Mechanisms, shape: SimulationShape, random: Random): TraceOperation[] {
  return new Simulation(mechanisms, shape, random).run();
}

class Simulation {
  readonly #mechanisms: Mechanisms;
  readonly #shape: SimulationShape;
  readonly #random: Random;
  #model: Model;
  #now = 0;
  #values = 0;
  readonly #done: TraceOperation[] = [];
  readonly #clients: Client[];

  constructor(mechanisms: Mechanisms, shape: SimulationShape, random: Random) {
    this.#mechanisms = mechanisms;
    this.#shape = shape;
    this.#random = random;
    this.#model = new Model(mechanisms, initialOf(shape.keys));
    this.#clients = Array.from({ length: shape.sessions }, (_, i) => ({
      session: `s${i}`,
      started: 0,
      events: [],
      current: null,
      startedAt: 0,
      earlier: [],
      left: 0,
      lastEnd: 0,
      savepoints: [],
    }));
  }

  run(): TraceOperation[] {
    for (;;) {
      const busy = this.#clients.filter(
        ({ current, earlier, started }) => current !== null || earlier.length > 0 || started < this.#shape.transactions,
      );
      if (busy.length === 0) break;
      const free = busy.filter(({ events }) => events[0] === undefined || !this.#model.isBlocked(events[0]));
      const client = (free.length === 0 ? busy : free)[this.#random(free.length || busy.length)] as Client;
      this.#now += 1 + this.#random(3);
      if (free.length === 0) this.#abort(client);
      else this.#advance(client);
    }
    return this.#done.toSorted((a, b) => a.start - b.start);
  }

  #advance(client: Client): void {
    if (client.current === null) this.#begin(client);
    const [event] = client.events;
    if (event !== undefined && !this.#model.isBlocked(event)) {
      const before = this.#model.copy();
      const name = event.operation.transaction;
      if (event.kind === 'read') {
        const image = this.#model.see(event);
        const { reads } = client.current as TraceOperation;
        client.current = {
          ...(client.current as TraceOperation),
          reads: reads.map((read) => (read.key === event.key ? { ...read, image } : read)),
        };
      }
      if (!this.#model.step(event)) {
        this.#model = before;
        this.#model.transaction(name);
        return this.#abort(client);
      }
      client.events = client.events.slice(1);
    }
    if (client.events.length === 0) this.#finish(client);
  }

  #begin(client: Client): void {
    if (client.earlier.length === 0) {
      client.started += 1;
      client.left = 1 + this.#random(this.#shape.operations);
      client.savepoints = [];
    }
    client.left -= 1;
    client.startedAt = this.#now;
    client.current = this.#operation(client);
    client.savepoints = savepointsAfter(client.savepoints, client.current);
    client.events = eventsOf(this.#mechanisms, client.current, client.earlier);
  }

  #operation(client: Client): TraceOperation {
    const { session, started, left } = client;
    const base = { session, transaction: `${session}/${started}`, predicates: [], failed: false, start: 0, end: 0 };
    const none = { reads: [], writes: [], lock: null };
    if (left < 0) return { ...base, ...none, kind: this.#random(8) === 0 ? 'abort' : 'commit' };
    if (this.#shape.savepoints === true && this.#random(3) === 0)
      return { ...base, ...none, ...this.#savepointOf(client) };
    const key = keyNames[this.#random(this.#shape.keys)] as string;
    const other = keyNames[this.#random(this.#shape.keys)] as string;
    if (this.#random(2) === 0) {
      this.#values += 1;
      const isDeleted = this.#shape.deletes === true && this.#random(2) === 0;
      const image = isDeleted ? null : this.#shape.repeats === true ? this.#random(3) : this.#values;
      return { ...base, ...none, kind: 'write', writes: [{ key, image }] };
    }
    const keys = [...new Set([key, other])];
    const lock = this.#random(6) === 0 ? (this.#random(2) === 0 ? 'update' : 'share') : null;
    const reads = keys.map((read) => ({ key: read, image: undefined as unknown as RowImage }));
    return { ...base, ...none, kind: 'read', reads, lock };
  }

  #savepointOf({ savepoints }: Client): { kind: TraceOperationKind; savepoint: string } {
    const choice = this.#random(4);
    const known = savepoints[this.#random(Math.max(1, savepoints.length))];
    if (known === undefined || choice === 0) return { kind: 'savepoint', savepoint: `s${this.#random(2)}` };
    return { kind: choice === 1 ? 'release' : 'rollback-to', savepoint: known };
  }

  #finish(client: Client): void {
    const { current } = client;
    if (current === null) return;
    const spread = (): number => this.#random(this.#shape.spread + 1);
    const start = Math.max(client.lastEnd, client.startedAt - spread());
    const end = this.#now + spread();
    const operation = { ...current, start, end };
    client.lastEnd = end;
    // Later moments of this client are later than what it was told.
    this.#done.push(operation);
    client.earlier = current.kind === 'commit' || current.kind === 'abort' ? [] : [...client.earlier, operation];
    client.current = null;
    client.events = [];
    this.#postpone(client);
  }

  /** A client that is told late must not act before: its next moment is after the end of the interval. */
  #postpone({ lastEnd }: Client): void {
    this.#now = Math.max(this.#now, lastEnd);
  }

  #abort(client: Client): void {
    const name = client.current?.transaction ?? client.earlier[0]?.transaction;
    if (name === undefined) return;
    const base = { session: client.session, transaction: name, predicates: [], reads: [], writes: [], lock: null };
    client.current = { ...base, kind: 'abort', failed: false, start: 0, end: 0 };
    client.events = [];
    this.#model.step({ operation: client.current, kind: 'abort', key: '', image: undefined });
    client.startedAt = this.#now;
    this.#finish(client);
  }
}

function savepointsAfter(savepoints: readonly string[], { kind, savepoint = '' }: TraceOperation): readonly string[] {
  if (kind === 'savepoint') return [...savepoints, savepoint];
  if (kind === 'release') return savepoints.slice(0, savepoints.lastIndexOf(savepoint));
  return kind === 'rollback-to' ? savepoints.slice(0, savepoints.lastIndexOf(savepoint) + 1) : savepoints;
}
