/**
 * Messages as in Gray and Lamport: the set of all messages ever sent, which only grows. A message is received by awaiting that it
 * is in the set, so it may arrive late, twice, out of order or never. One bit each.
 */
import { InputError } from '../base/index.ts';
import type { Member, Members, NamedSet } from './named-set.ts';
import type { MessageDeclaration } from './spec.ts';

/** What a trace hears while it repeats a step. */
export interface MessageListener {
  /** Before each look at whether a message was sent. */
  readonly asked?: (message: Message) => void;
  readonly sent: (message: Message, members: readonly Member[]) => void;
  readonly received: (message: Message, members: readonly Member[]) => void;
}

const messagesMax = 1 << 16;
const setsMax = 4;

/** All messages of one name: one for each tuple of members. A class because the search binds it to the words of a state. */
export class Message implements MessageDeclaration {
  readonly name: string;
  readonly sets: readonly NamedSet[];
  readonly count: number;
  readonly #strides: readonly number[];
  readonly #stride0: number;
  readonly #stride1: number;
  readonly #stride2: number;
  readonly #stride3: number;
  /** Word and bit of each message, as word * 32 + bit. */
  #places: Int32Array = new Int32Array(0);
  #words: Int32Array = new Int32Array(0);
  #listener: MessageListener | null = null;

  constructor(name: string, sets: readonly NamedSet[]) {
    this.name = name;
    this.sets = sets;
    this.#strides = sets.map((_, i) => sets.slice(i + 1).reduce((product, set) => product * set.size, 1));
    this.count = sets.reduce((product, set) => product * set.size, 1);
    if (sets.length > setsMax) throw new InputError('protocol/size', `${name} is of more than ${setsMax} sets`);
    if (this.count > messagesMax) throw new InputError('protocol/size', `${name} stands for ${this.count} messages`);
    [this.#stride0 = 0, this.#stride1 = 0, this.#stride2 = 0, this.#stride3 = 0] = this.#strides;
  }

  bind(words: Int32Array, places: Int32Array, listener: MessageListener | null): void {
    this.#words = words;
    this.#places = places;
    this.#listener = listener;
  }

  /** Sends the message of these members; it stays sent. @throws InputError `protocol/message` where there is no such message */
  send(a: Member = 0, b: Member = 0, c: Member = 0, d: Member = 0): void {
    const place = this.#place(a, b, c, d);
    if (this.#listener !== null) this.#listener.sent(this, this.#tuple(a, b, c, d));
    this.#words[place >>> 5] |= 1 << (place & 31);
  }

  /** Has it been sent? In a condition, this is how a process receives it. */
  sent(a: Member = 0, b: Member = 0, c: Member = 0, d: Member = 0): boolean {
    const place = this.#place(a, b, c, d);
    if (this.#listener !== null) this.#listener.asked?.(this);
    const found = ((this.#words[place >>> 5] >>> (place & 31)) & 1) === 1;
    if (found && this.#listener !== null) this.#listener.received(this, this.#tuple(a, b, c, d));
    return found;
  }

  /** The members of the last set for which the message has been sent; `first` are the members of the sets before it. */
  sentBy(...first: readonly Member[]): Members {
    if (this.#listener !== null) this.#listener.asked?.(this);
    const last = this.sets.at(-1)?.size ?? 0;
    const offset = first.reduce((index, member, i) => index + member * this.#strides[i], 0);
    let members = 0;
    for (let member = 0; member < last; member += 1) {
      if (!this.#has(offset + member)) continue;
      members |= 1 << member;
      if (this.#listener !== null) this.#listener.received(this, [...first, member]);
    }
    return members;
  }

  /** For traces: is message number `index` in these words? */
  isIn(words: Int32Array, index: number): boolean {
    const place = this.#places[index];
    return ((words[place >>> 5] >>> (place & 31)) & 1) === 1;
  }

  #has(index: number): boolean {
    const place = this.#places[index];
    return ((this.#words[place >>> 5] >>> (place & 31)) & 1) === 1;
  }

  #place(a: Member, b: Member, c: Member, d: Member): number {
    const place = this.#places[a * this.#stride0 + b * this.#stride1 + c * this.#stride2 + d * this.#stride3];
    if (place === undefined) throw this.#unknown([a, b, c, d]);
    return place;
  }

  #tuple(...members: readonly Member[]): readonly Member[] {
    return members.slice(0, this.sets.length);
  }

  #unknown(members: readonly Member[]): InputError {
    const sets = this.sets.map(({ name }) => name).join(', ');
    return new InputError(
      'protocol/message',
      `there is no message ${this.name}(${members.join(', ')}); it is of ${sets}`,
    );
  }
}

export function message(name: string, ...sets: readonly NamedSet[]): Message {
  return new Message(name, sets);
}
