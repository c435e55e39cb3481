/**
 * The language of protocols: plain TypeScript beside the paper's PlusCal.
 *
 * A protocol is processes with variables and labelled atomic steps. A label has one step, or several of which either may be
 * taken. A step may choose a member of a set, awaits a condition, and then does: it assigns variables, sends messages, and says
 * at which label the process is then. Conditions read the state, `do` writes it; both see the variables as properties.
 */
import type { Operation } from '../history/index.ts';
import { InputError } from '../base/index.ts';
import type { Kind, ValueOf } from './kind.ts';
import type { Member, Members, NamedSet } from './named-set.ts';
import { undeclared } from './undeclared.ts';

/** Variables by name, each of a kind. */
export type Variables = Readonly<Record<string, Kind<unknown>>>;

/** What a step sees of its process: its variables, its label, and the processes of its set. */
export type Self<V extends Variables> = AnyProcess & { readonly all: readonly Self<V>[] } & {
  -readonly [N in keyof V]: ValueOf<V[N]>;
};

/** What every process has. */
export interface AnyProcess {
  readonly id: Member;
  at: string;
  readonly all: readonly AnyProcess[];
}

/** One atomic step: `with chosen \in from do await ...; do ... end with`, where `choose` may narrow the set. */
export interface Step<S> {
  /** How a trace calls it; the label where it is absent. */
  readonly name?: string;
  readonly from?: NamedSet;
  /** Those of `from` that may be chosen. Default: all. */
  readonly choose?: (self: S) => Members;
  /** May the step be taken? Default: always. */
  readonly await?: (self: S, chosen: Member) => boolean;
  /** What the step does: it assigns variables and the label, and sends messages. */
  readonly do: (self: S, chosen: Member) => void;
  /**
   * Commutes with every step of other processes, can neither be enabled nor disabled by them, and no invariant sees it. With `reduction`
   * the search need not interleave it. For the only step of a label.
   */
  readonly local?: boolean;
}

/** A step that processes with different variables share. */
export function step(each: Step<AnyProcess>): Step<AnyProcess> {
  return each;
}

/** Labels with one step, or with several of which either may be taken. At a label without steps a process is done; `Done` is one. */
export type Steps<S> = Readonly<Record<string, Step<S> | readonly Step<S>[]>>;

/** How processes crash, and come back. */
export interface Crashing {
  /** The variables that survive; the others start again. */
  readonly durable: readonly string[];
  /** The label at which a process that comes back continues. */
  readonly recoverAt: string;
  /** How often each process of the set may crash. */
  readonly crashesMax: number;
}

/** What each process of a set is and does. */
export interface ProcessesSpec<V extends Variables> {
  /** The label at which every process starts. */
  readonly start: string;
  readonly variables?: V;
  /** Labels at which it is no deadlock to wait forever: a server that is not asked any more. */
  readonly mayRestAt?: readonly string[];
  readonly steps: Steps<Self<V>>;
  /** Default true: a process that can take a step forever takes one at some point. `false`: it may stop at any time. */
  readonly fair?: boolean;
  readonly crashes?: Crashing;
}

/** A process for each member of a set. */
export interface Processes<V extends Variables = Variables> {
  readonly set: NamedSet;
  readonly spec: ProcessesSpec<V>;
  /** Variables of all processes, for conditions and invariants. */
  readonly all: readonly Self<V>[];
}

/**
 * A process for each member of a set.
 * @throws InputError `protocol/label` where `start` is none of the labels
 */
export function processes<V extends Variables>(set: NamedSet, spec: ProcessesSpec<V>): Processes<V> {
  const labels = Object.keys(spec.steps ?? {});
  if (!labels.includes(spec.start)) {
    throw new InputError(
      'protocol/label',
      `processes ${set.name} start at ${spec.start}; labels: ${labels.join(', ')}`,
    );
  }
  const all: Self<V>[] = [];
  Object.setPrototypeOf(all, undeclared(`processes ${set?.name}`, 'processes', Array.prototype));
  return { set, spec, all };
}

/** Variables that all processes share. */
export interface Shared<V extends Variables = Variables> {
  readonly name: string;
  readonly variables: V;
  /** Their values in the state at hand. */
  readonly now: { -readonly [N in keyof V]: ValueOf<V[N]> };
}

/** Variables that all processes read and write, by name. */
export function shared<V extends Variables>(name: string, variables: V): Shared<V> {
  const now = Object.create(undeclared(`shared ${name}`, 'shared', Object.prototype)) as Shared<V>['now'];
  return { name, variables, now };
}

/** What clients see: one transaction for each process of a set. Of the state only the variables in `from` are readable. */
export interface Observation {
  readonly of: Processes;
  readonly from: readonly string[];
  /** `null`: the transaction has not committed, or never will. */
  readonly operations: (self: AnyProcess) => readonly Operation[] | null;
  readonly initial: Readonly<Record<string, number>>;
}

/** What `operations` sees of its process. */
export type Observed<V extends Variables, N extends string> = { readonly id: Member } & Readonly<
  Pick<Self<V> & { readonly crashes: number }, N & (keyof V | 'at' | 'crashes')>
>;

/** What clients see of a protocol: the transactions that isolation levels are asked about. */
export function observe<V extends Variables, const N extends 'at' | 'crashes' | (keyof V & string)>(observation: {
  readonly of: Processes<V>;
  readonly from: readonly N[];
  readonly operations: (self: Observed<V, N>) => readonly Operation[] | null;
  readonly initial: Readonly<Record<string, number>>;
}): Observation {
  return observation as unknown as Observation;
}

/** Asked in a state; it reads the variables of `Processes.all` and `Shared.now`. */
export type Condition = () => boolean;

/** What a protocol consists of, and what must hold. */
export interface ProtocolParts {
  readonly processes: readonly ProcessesDeclaration[];
  readonly messages?: readonly MessageDeclaration[];
  readonly shared?: readonly SharedDeclaration[];
  /** Sets whose members are interchangeable: states that differ only by their names are one. */
  readonly symmetry?: readonly NamedSet[];
  /** Must hold in every state. */
  readonly invariants?: Readonly<Record<string, Condition>>;
  /** Must hold in some state: a protocol that does nothing is not right. */
  readonly sometimes?: Readonly<Record<string, Condition>>;
  /** Must hold at some point of every fair behaviour. */
  readonly eventually?: Readonly<Record<string, Condition>>;
  readonly observe?: Observation;
}

/** What all `Processes` are, whatever their variables. */
export interface ProcessesDeclaration {
  readonly set: NamedSet;
}

/** What all `Shared` are, whatever their variables. */
export interface SharedDeclaration {
  readonly name: string;
}

/** What all messages are, whatever their sets. */
export interface MessageDeclaration {
  readonly name: string;
  readonly sets: readonly NamedSet[];
}

/** Numbers that a protocol is made for, by name. */
export type Parameters = Readonly<Record<string, number>>;

/** A protocol that can be checked. */
export interface Protocol<P extends Parameters = Parameters> {
  readonly name: string;
  /** With their defaults; the command line has an option for each. */
  readonly parameters: P;
  /** The parts for these values. */
  readonly define: (parameters: P) => ProtocolParts;
}

/** A protocol: `define` makes its parts for given values of the parameters. */
export function protocol<const P extends Parameters>(definition: {
  readonly name: string;
  readonly parameters: P;
  readonly define: (parameters: { readonly [N in keyof P]: number }) => ProtocolParts;
}): Protocol {
  return definition as unknown as Protocol;
}

/** @throws InputError `protocol/shape` where a module's default export is no protocol */
export function checkShape(found: unknown): Protocol {
  const { name, parameters, define } = (found ?? {}) as { readonly [N in keyof Protocol]?: unknown };
  if (
    typeof name === 'string' &&
    typeof parameters === 'object' &&
    parameters !== null &&
    typeof define === 'function'
  ) {
    return found as Protocol;
  }
  const needs = 'it needs a name, parameters and a function define';
  throw new InputError('protocol/shape', `the default export is no protocol: ${needs}`);
}
