/**
 * Queues of messages, one for each receiver, for protocols in which a message is gone once it is received. Loss, duplication and
 * reordering are choices of the network, which is one more process: `faults`.
 */
import { InputError } from '../base/index.ts';
import { sameValue, type Value } from '../history/index.ts';
import { type Kind, listOf, mapOf } from './kind.ts';
import { type Member, namedSet, type NamedSet } from './named-set.ts';
import { processes, type ProcessesDeclaration, shared, type SharedDeclaration, type Step } from './spec.ts';

/** How long a queue gets, and what the network may do to it. */
export interface ChannelOptions {
  /** Messages that wait for one receiver. */
  readonly lengthMax: number;
  /** Default true: received in the order in which they were sent. */
  readonly ordered?: boolean;
  readonly lossy?: boolean;
  readonly duplicating?: boolean;
}

/** A queue for each receiver. */
export interface Channel<T> {
  /** For `shared` of the protocol. */
  readonly state: SharedDeclaration;
  /** For `processes`: the network that loses and duplicates. Empty where it does neither. */
  readonly faults: readonly ProcessesDeclaration[];
  /** Is there room in the queue? */
  readonly canSend: (to: Member) => boolean;
  /** @throws InputError `protocol/queue-full` */
  readonly send: (to: Member, message: T) => void;
  /** Can this message be received now? Where order is kept, only the first can. */
  readonly isNext: (to: Member, message: T) => boolean;
  /** Takes it out of the queue. */
  readonly receive: (to: Member, message: T) => void;
}

/**
 * A queue of messages for each member of `to`.
 * @param kind of a message
 * @throws InputError `protocol/queue-full`, from `send`
 */
export function channel<T extends Value>(
  name: string,
  to: NamedSet,
  kind: Kind<T>,
  { lengthMax, ordered = true, lossy = false, duplicating = false }: ChannelOptions,
): Channel<T> {
  const state = shared(name, { waiting: mapOf(to, listOf(kind, lengthMax)) });
  const queueOf = (member: Member): readonly T[] => state.now.waiting[member] ?? [];
  const setQueue = (member: Member, queue: readonly T[]): void => {
    state.now.waiting = state.now.waiting.with(member, queue);
  };
  const placeOf = (member: Member, message: T): number => {
    const queue = queueOf(member);
    if (!ordered) return queue.findIndex((waiting) => sameValue(waiting, message));
    return queue[0] !== undefined && sameValue(queue[0], message) ? 0 : -1;
  };
  const faultSteps = Array.from({ length: lengthMax }, (_, place) => [
    ...(lossy ? [lose(to, place, queueOf, setQueue)] : []),
    ...(duplicating ? [duplicate(to, place, lengthMax, queueOf, setQueue)] : []),
  ]).flat();
  return {
    state,
    faults: faultSteps.length === 0 ? [] : [network(name, faultSteps)],
    canSend: (member) => queueOf(member).length < lengthMax,
    send: (member, message) => {
      const queue = queueOf(member);
      if (queue.length === lengthMax) {
        const what = `${name} to ${to.names[member]} holds ${lengthMax} messages already; await canSend or raise lengthMax`;
        throw new InputError('protocol/queue-full', what);
      }
      // Where order does not matter, equal bags should be equal states.
      const next = [...queue, message];
      setQueue(member, ordered ? next : next.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)));
    },
    isNext: (member, message) => placeOf(member, message) >= 0,
    receive: (member, message) => {
      const place = placeOf(member, message);
      if (place < 0) throw new InputError('protocol/queue', `${name} has no such message for ${to.names[member]}`);
      setQueue(member, queueOf(member).toSpliced(place, 1));
    },
  };
}

type QueueOf<T> = (member: Member) => readonly T[];
type SetQueue<T> = (member: Member, queue: readonly T[]) => void;

function lose<T>(to: NamedSet, place: number, queueOf: QueueOf<T>, setQueue: SetQueue<T>): Step<unknown> {
  return {
    name: `lose message ${place + 1} to`,
    from: to,
    await: (_, member) => queueOf(member).length > place,
    do: (_, member) => setQueue(member, queueOf(member).toSpliced(place, 1)),
  };
}

function duplicate<T>(
  to: NamedSet,
  place: number,
  lengthMax: number,
  queueOf: QueueOf<T>,
  setQueue: SetQueue<T>,
): Step<unknown> {
  return {
    name: `duplicate message ${place + 1} to`,
    from: to,
    await: (_, member) => queueOf(member).length > place && queueOf(member).length < lengthMax,
    do: (_, member) => setQueue(member, queueOf(member).toSpliced(place, 0, queueOf(member)[place])),
  };
}

/** It need not do any harm, so it is not fair and may rest. */
function network(name: string, steps: readonly Step<unknown>[]): ProcessesDeclaration {
  return processes(namedSet(`${name} network`, [`${name} network`]), {
    start: 'harm',
    mayRestAt: ['harm'],
    fair: false,
    steps: { harm: steps },
  });
}
