/**
 * `moirai/protocol`: commit protocols as processes with variables and atomic steps, and the model checker for them.
 *
 * @example
 * ```ts
 * import { checkProtocol, formatSteps, namedSet, processes, protocol, range } from 'moirai/protocol';
 *
 * const counting = protocol({
 *   name: 'counting',
 *   parameters: { most: 3 },
 *   define: ({ most }) => {
 *     const counter = processes(namedSet('counters', ['c']), {
 *       start: 'counting',
 *       variables: { n: range(0, 5) },
 *       steps: { counting: { await: ({ n }) => n < 5, do: (self) => { self.n += 1; } } },
 *       mayRestAt: ['counting'],
 *     });
 *     return { processes: [counter], invariants: { small: () => counter.all.every(({ n }) => n <= most) } };
 *   },
 * });
 * const result = checkProtocol(counting);
 * console.log(result.verdict, result.violation?.name, result.trace && formatSteps(result.trace).length > 0);
 * // prints: violated small true
 * console.log(checkProtocol(counting, { parameters: { most: 5 } }).verdict);
 * // prints: satisfied
 * ```
 * @module
 */
import {
  checkProtocol as check,
  checkProtocolYielding,
  message as newMessage,
  type Message as MessageOfSearch,
  type NamedSet,
  type Parameters,
  type Protocol,
  type ProtocolCheckOptions as AllOptions,
  type ProtocolCheckResult as RoomResult,
  simulateProtocol as simulate,
  type SimulateOptions,
} from '../protocol/index.ts';
import { type OptionKinds, requireOptions } from './given-options.ts';

export {
  channel,
  checkShape,
  flag,
  formatLanes,
  formatMermaid,
  formatSteps,
  formatSvg,
  has,
  itfOf,
  listOf,
  mapOf,
  memberOf,
  memberOrNone,
  membersOf,
  minus,
  namedSet,
  observe,
  oneOf,
  plus,
  processes,
  protocol,
  ProtocolFault,
  range,
  record,
  setOf,
  shared,
  sizeOf,
  step,
  type AnyProcess,
  type Channel,
  type ChannelOptions,
  type Cell,
  type Condition,
  type Crashing,
  type Kind,
  type Member,
  type Members,
  type MessageDeclaration,
  type NamedSet,
  type Observation,
  type Observed,
  type Parameters,
  type Processes,
  type ProcessesDeclaration,
  type ProcessesSpec,
  type Progress,
  type Protocol,
  type ProtocolParts,
  type Self,
  type Shared,
  type SharedDeclaration,
  type StateValues,
  type Step,
  type Steps,
  type Trace,
  type TraceMessage,
  type TraceStep,
  type ValueOf,
  type Variables,
  type Violation,
} from '../protocol/index.ts';

/** All messages of one name: one for each tuple of members of its sets. A message that was sent stays sent. */
export interface Message extends Pick<MessageOfSearch, 'name' | 'sets' | 'count' | 'send' | 'sent' | 'sentBy'> {}

/** What is checked, and how far. */
export interface ProtocolCheckOptions
  extends Pick<
    AllOptions,
    | 'deadlock'
    | 'eventually'
    | 'levels'
    | 'memoryBytesMax'
    | 'order'
    | 'parameters'
    | 'progress'
    | 'reduction'
    | 'signal'
    | 'statesMax'
    | 'symmetry'
    | 'timeoutMs'
  > {}

const checkOptions: OptionKinds<ProtocolCheckOptions> = {
  deadlock: 'boolean',
  eventually: 'boolean',
  levels: 'list',
  memoryBytesMax: 'number',
  order: 'string',
  parameters: 'object',
  progress: 'function',
  reduction: 'boolean',
  signal: 'object',
  statesMax: 'number',
  symmetry: 'boolean',
  timeoutMs: 'number',
};

/** What a search found. */
export interface ProtocolCheckResult extends Omit<RoomResult, 'checkpoint'> {}

/** What random behaviours are drawn from, and how many. */
export interface SimulateProtocolOptions extends SimulateOptions {
  /** The values of the protocol's parameters. Default: its own. */
  readonly parameters?: Parameters;
}

const simulateOptions: OptionKinds<SimulateProtocolOptions> = {
  deadlock: 'boolean',
  levels: 'list',
  parameters: 'object',
  progress: 'function',
  runs: 'number!',
  seed: 'number!',
  signal: 'object',
  stepsMax: 'number',
  timeoutMs: 'number',
};

/**
 * Declares the messages of one name, as in Gray and Lamport, "Consensus on Transaction Commit" (2006): the set of messages ever sent only
 * grows, so a message may arrive late, twice, out of order or never.
 * @param sets of whose members there is a message for each tuple; at most 4
 * @throws InputError `protocol/size` where that is more than 65,536 messages
 */
export function message(name: string, ...sets: readonly NamedSet[]): Message {
  return newMessage(name, ...sets);
}

/**
 * Searches all reachable states of a protocol, up to symmetry, and blocks the thread until it has.
 * @returns `satisfied` where all states were seen and are right; `violated` with a trace; `unknown` with the limit that ended the search
 * @throws InputError `protocol/...` where the protocol is wrong; `ProtocolFault` with the steps that lead there
 */
export function checkProtocol(protocol: Protocol, options: ProtocolCheckOptions = {}): ProtocolCheckResult {
  requireOptions('checkProtocol', options, checkOptions);
  return check(protocol, options);
}

/**
 * The same, giving the thread back now and then, so that timers run and `signal` is heard.
 * @throws InputError as `checkProtocol`
 */
export async function checkProtocolAsync(
  protocol: Protocol,
  options: ProtocolCheckOptions = {},
): Promise<ProtocolCheckResult> {
  requireOptions('checkProtocolAsync', options, checkOptions);
  return checkProtocolYielding(protocol, options);
}

/**
 * Takes random behaviours in place of all: for protocols with too many states. It finds violations, and is never `satisfied`.
 * @throws InputError as `checkProtocol`
 *
 * @example
 * ```ts
 * import { formatLanes, has, message, namedSet, plus, processes, protocol, setOf, simulateProtocol } from 'moirai/protocol';
 *
 * const votes = protocol({
 *   name: 'votes',
 *   parameters: { voters: 3, quorum: 2 },
 *   define: ({ voters: size, quorum }) => {
 *     const voters = namedSet('v', size);
 *     const yes = message('Yes', voters);
 *     const asking = processes(voters, {
 *       start: 'asked',
 *       steps: { asked: { do: (self) => { yes.send(self.id); self.at = 'Done'; } } },
 *     });
 *     const counting = processes(namedSet('c', ['counter']), {
 *       start: 'counting',
 *       variables: { seen: setOf(voters) },
 *       mayRestAt: ['counting'],
 *       steps: {
 *         counting: {
 *           from: voters,
 *           await: (self, voter) => yes.sent(voter) && !has(self.seen, voter),
 *           do: (self, voter) => { self.seen = plus(self.seen, voter); },
 *         },
 *       },
 *     });
 *     const few = (): boolean => counting.all.every(({ seen }) => [0, 1, 2].filter((v) => has(seen, v)).length < quorum);
 *     return { processes: [asking, counting], messages: [yes], invariants: { few } };
 *   },
 * });
 * const found = await simulateProtocol(votes, { runs: 100, seed: 1 });
 * console.log(found.verdict, found.violation?.name, found.trace && formatLanes(found.trace).length > 0);
 * // prints: violated few true
 * ```
 */
export async function simulateProtocol(
  protocol: Protocol,
  options: SimulateProtocolOptions,
): Promise<ProtocolCheckResult> {
  requireOptions('simulateProtocol', options, simulateOptions);
  return simulate(protocol, options);
}
