/**
 * The tree of schedules of a program, walked depth first, one run a leaf. Where several sessions could continue, not every one has to go first:
 * dynamic partial order reduction (Flanagan and Godefroid, POPL 2005) with sleep sets (Godefroid, 1996).
 *
 * - A run ends; its steps are compared (`happens-before.ts`). For each race there has to be a run that begins, where the first step of the race was
 *   taken, with one of those that could come to the second step without it. If none is planned yet, one is.
 * - A session whose step was tried at a place sleeps there until a step comes that its step depends on: schedules that begin with it were seen.
 * - A session that could continue and, after another's step, can no longer (a lock that both waited for) is planned at that place: the step that it
 *   could have taken does not show in the run until much later.
 *
 * Source sets (Abdulla, Aronis, Jonsson and Sagonas, JACM 64(4), 2017) plan less, but ask that what a step touches does not depend on who came
 * before it. Here it does: a statement that finds a lock taken, or a row changed, touches something else.
 *
 * So each class of schedules that differ in the order of independent neighbours is walked to its end exactly once. This is not optimal: a run may
 * turn out to be a repetition when all that could continue sleep. It is finished, since a program cannot be stopped midway, and not counted.
 *
 * Whether two steps conflict may depend on the rest of the run: on what is read later with the snapshot that one of them took (`engine/footprint.ts`). The
 * races of whole runs are still enough. Where two neighbours do not conflict in a whole run, every step does the same with the two swapped, and has the
 * same conflicts. So where a step cannot be moved to the front of a run, a run that takes it first shows a race with one of the steps that it has
 * overtaken, and that race plans the reversal. A sleeping step wakes at a step with which it conflicted in any run; where the two do not conflict after
 * all, the run is found at its end to be a repetition.
 */
import type { Decisions } from '../../mockdb/index.ts';
import type { Footprint } from '../../engine/index.ts';
import { Backtracking } from './backtracking.ts';
import { type Step, waitingForAll } from './happens-before.ts';
import type { OtherNode, SessionNode } from './schedule-node.ts';

/**
 * Where a walk stands between two runs, from the root on: the decisions of the next run, and what was tried beside them. Plain data; the steps that
 * were tried are left out, because the same decisions show them again.
 */
export interface TreePosition {
  readonly nodes: readonly NodePosition[];
  /** As `LateConflicts` keeps them. */
  readonly lateConflicts: readonly string[];
}

type NodePosition =
  | {
      readonly kind: 'session';
      readonly ready: readonly string[];
      readonly chosen: string;
      readonly done: readonly string[];
      readonly sleep: readonly string[];
      readonly planned: readonly string[];
      readonly ifPlanned: readonly { readonly process: string; readonly initials: readonly string[] }[];
    }
  | { readonly kind: 'other'; readonly options: number; readonly chosen: number };

export type Phase = 'schema' | 'sessions' | 'judging';

export interface ScheduleTreeOptions {
  /** The name of a connection, the same in every run. */
  readonly processOf: (connection: number) => string;
  /** Before the sessions begin one order is enough; when the end is judged every order is tried. */
  readonly phase: () => Phase;
  /** The processes that wait for others, after the step that went last. */
  readonly waiting: () => readonly string[];
  /** What was touched since it was taken last. */
  readonly takeFootprint: () => Footprint;
  /** The run is over: what its steps touched late is added to their footprints. */
  readonly endRun: () => void;
  /** Leave out repetitions? */
  readonly reduces: boolean;
}

export class ScheduleTree {
  /** Does the program take another turn than it took before with the same decisions? */
  hasDiverged = false;
  /** Is this run a repetition of one that was walked before? */
  isRepetition = false;
  readonly #options: ScheduleTreeOptions;
  readonly #nodes: (SessionNode | OtherNode)[] = [];
  readonly #backtracking = new Backtracking(this.#nodes);
  /** How many of the nodes this run has passed. */
  #depth = 0;
  /** From here on the sessions have ended. */
  #judgedFrom = Infinity;
  #last: SessionNode | null = null;
  #isFinished = false;
  /** How many steps each process has made in this run. */
  readonly #ordinals = new Map<string, number>();

  constructor(options: ScheduleTreeOptions) {
    this.#options = options;
  }

  /** The decisions of the next run. */
  decisions(): Decisions {
    this.#depth = 0;
    this.#judgedFrom = Infinity;
    this.#last = null;
    this.#ordinals.clear();
    this.#isFinished = false;
    this.isRepetition = false;
    const path: number[] = [];
    const schedule: number[] = [];
    return {
      path,
      schedule,
      readChoices: [],
      session: (ready) => {
        const session = this.#session(ready);
        if (ready.length > 1) path.push(ready.indexOf(session));
        schedule.push(session);
        return session;
      },
      read: (admissible) => {
        if (admissible.length === 1) return 0;
        const position = this.#other(admissible.length);
        path.push(position);
        return position;
      },
      failure: () => false,
    };
  }

  /** The run is over: what its last steps were, and whether it is a repetition, is known now. */
  finish(): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    this.#noteStep();
    this.#options.endRun();
    if (!this.#options.reduces) return;
    this.#backtracking.order(this.#judgedFrom);
    this.isRepetition ||= this.#backtracking.isRepetition;
  }

  /** To the next leaf. @returns false when there is none */
  next(): boolean {
    this.finish();
    if (this.#options.reduces) this.#backtracking.plan();
    for (let node = this.#nodes.at(-1); node !== undefined; node = this.#nodes.at(-1)) {
      if (node.kind === 'other') {
        node.chosen += 1;
        if (node.chosen < node.options) return true;
      } else {
        if (node.step !== null) node.done.set(node.chosen, node.step);
        const next = this.#open(node).find((process) => !node.done.has(process));
        if (next !== undefined) {
          node.chosen = next;
          node.step = null;
          this.#backtracking.cutTo(this.#nodes.length - 1);
          return true;
        }
      }
      this.#nodes.pop();
    }
    return false;
  }

  /** Where the walk stands: before the first run, or after `next`. */
  position(): TreePosition {
    const nodes = this.#nodes.map((node): NodePosition => {
      if (node.kind === 'other') return { kind: 'other', options: node.options, chosen: node.chosen };
      const { ready, chosen, done, sleep, planned, ifPlanned } = node;
      const names = { done: [...done.keys()], sleep: [...sleep.keys()], planned: [...planned] };
      return { kind: 'session', ready, chosen, ...names, ifPlanned: [...ifPlanned.values()] };
    });
    return { nodes, lateConflicts: this.#backtracking.lateConflicts.saved() };
  }

  /**
   * Continues a walk of the same program: before the first run. One run for each step that was tried beside the decisions.
   * @param run makes a run; it resolves to false where that did not end, and the walk cannot continue
   */
  async restore(position: TreePosition, run: (decisions: Decisions) => Promise<boolean>): Promise<void> {
    this.#backtracking.lateConflicts.restore(position.lateConflicts);
    for (const each of position.nodes) {
      if (each.kind === 'other') this.#nodes.push({ ...each });
      else if (!(await this.#restoreSessions(each, run))) return;
    }
  }

  async #restoreSessions(
    { ready, chosen, done, sleep, planned, ifPlanned }: NodePosition & { readonly kind: 'session' },
    run: (decisions: Decisions) => Promise<boolean>,
  ): Promise<boolean> {
    const before = this.#nodes.at(-1);
    const known = before?.kind === 'session' ? new Map([...before.sleep, ...before.done]) : new Map<string, Step>();
    const node: SessionNode = {
      kind: 'session',
      ready,
      done: new Map(),
      sleep: new Map(sleep.map((process) => [process, known.get(process) ?? waitingForAll(process)])),
      planned: new Set(planned),
      chosen,
      ifPlanned: new Map(ifPlanned.map((each) => [`${each.process} ${each.initials.join()}`, each])),
      step: null,
    };
    this.#nodes.push(node);
    const { length } = this.#nodes;
    for (const process of done) {
      node.chosen = process;
      if (this.#options.reduces && !(await run(this.decisions()))) return false;
      this.#noteStep();
      this.#options.endRun();
      this.#nodes.length = length;
      // Without the reduction no step is asked for again.
      node.done.set(process, node.step ?? waitingForAll(process));
    }
    node.chosen = chosen;
    node.step = null;
    return true;
  }

  /** The share of the tree that was walked, if every branch were of the same size and no more were planned. */
  get share(): number {
    let share = 0;
    let part = 1;
    for (const node of this.#nodes) {
      part /= node.kind === 'other' ? node.options : Math.max(1, this.#open(node).length);
      share += part * (node.kind === 'other' ? node.chosen : node.done.size);
    }
    return share;
  }

  #open({ ready, planned, sleep }: SessionNode): string[] {
    return ready.filter((process) => planned.has(process) && !sleep.has(process));
  }

  #session(connections: readonly number[]): number {
    this.#noteStep();
    const ready = connections.map((connection) => this.#options.processOf(connection));
    const node = this.#node(ready);
    this.#last = node;
    if (node === null) return connections[0] as number;
    return connections[ready.indexOf(node.chosen)] as number;
  }

  /** `null`: it does not matter any more. */
  #node(ready: readonly string[]): SessionNode | null {
    const phase = this.#options.phase();
    if (this.isRepetition || this.hasDiverged || phase === 'schema') return null;
    const depth = this.#depth;
    this.#depth += 1;
    const isJudging = phase === 'judging';
    if (isJudging) this.#judgedFrom = Math.min(this.#judgedFrom, depth);
    const known = this.#nodes[depth];
    if (depth === 0) this.#backtracking.alreadyWaiting = this.#options.waiting().map(waitingForAll);
    if (known !== undefined) {
      if (known.kind === 'session' && known.ready.join('\0') === ready.join('\0')) return known;
      this.hasDiverged = true;
      return null;
    }
    const sleep = isJudging ? new Map<string, Step>() : this.#sleepers();
    const chosen = ready.find((process) => !sleep.has(process));
    if (chosen === undefined) {
      this.isRepetition = true;
      return null;
    }
    const planned = new Set(this.#options.reduces && !isJudging ? [chosen] : ready);
    const node: SessionNode = {
      kind: 'session',
      ready,
      done: new Map(),
      sleep,
      planned,
      ifPlanned: new Map(),
      chosen,
      step: null,
    };
    this.#nodes.push(node);
    return node;
  }

  #other(options: number): number {
    if (this.isRepetition) return 0;
    const known = this.#nodes[this.#depth];
    this.#depth += 1;
    if (known === undefined) {
      this.#nodes.push({ kind: 'other', options, chosen: 0 });
      return 0;
    }
    if (known.kind === 'other' && known.options === options) return known.chosen;
    this.hasDiverged = true;
    return 0;
  }

  /** What the step that went last was. */
  #noteStep(): void {
    const footprint = this.#options.takeFootprint();
    const node = this.#last;
    this.#last = null;
    if (node === null) return;
    const { chosen } = node;
    const ordinal = this.#ordinals.get(chosen) ?? 0;
    this.#ordinals.set(chosen, ordinal + 1);
    node.step = { process: chosen, ordinal, footprint, waits: this.#options.waiting().includes(chosen) };
  }

  /** The sleep set after the step before this one. */
  #sleepers(): Map<string, Step> {
    const sleepers = new Map<string, Step>();
    const previous = this.#nodes.at(-1);
    if (!this.#options.reduces || previous?.kind !== 'session' || previous.step === null) return sleepers;
    const { lateConflicts } = this.#backtracking;
    for (const [process, step] of [...previous.sleep, ...previous.done])
      if (process !== previous.chosen && !lateConflicts.mayDepend(step, previous.step)) sleepers.set(process, step);
    return sleepers;
  }
}
