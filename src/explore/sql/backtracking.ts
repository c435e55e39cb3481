/** What else has to be tried at the places of a schedule: the backtrack sets of dynamic partial order reduction, from the races of a run. */
import { areDependent, HappensBefore, type Step } from './happens-before.ts';
import { LateConflicts } from './late-conflicts.ts';
import type { OtherNode, SessionNode } from './schedule-node.ts';

export class Backtracking {
  /** Steps that began to wait before the first decision of this tree, where it is a part of another: for what is unknown. */
  alreadyWaiting: readonly Step[] = [];
  readonly lateConflicts = new LateConflicts();
  readonly #nodes: readonly (SessionNode | OtherNode)[];
  readonly #order = new HappensBefore();
  /** For how many steps of it what has to be tried is planned. */
  #planned = 0;

  /** @param nodes of the run, which the tree changes */
  constructor(nodes: readonly (SessionNode | OtherNode)[]) {
    this.#nodes = nodes;
  }

  /** The steps of the first places stay as they are. */
  cutTo(length: number): void {
    this.#order.cutTo(length);
    this.#planned = Math.min(this.#planned, length);
  }

  /** The steps of the run that has ended. @param judgedFrom where the sessions have ended: of what comes then every order is tried */
  order(judgedFrom: number): void {
    const end = Math.min(this.#nodes.length, judgedFrom);
    this.#forgetLate();
    for (let at = this.#order.length; at < end; at += 1) {
      const { step } = this.#nodes[at] as SessionNode;
      if (step === null) break;
      this.#order.add(step);
    }
    this.lateConflicts.note(this.#order.steps);
  }

  /**
   * Could the run have begun, at one of its places, with a step that was tried there before? Sleep sets leave such runs out where it is known in time that
   * the steps in between are independent of that step.
   */
  get isRepetition(): boolean {
    const { steps } = this.#order;
    for (let place = 0; place < steps.length; place += 1)
      for (const process of (this.#nodes[place] as SessionNode).done.keys()) {
        const at = steps.findIndex((step, index) => index > place && step.process === process);
        if (at >= 0 && this.#order.isFirst(at, place)) return true;
      }
    return false;
  }

  /** For the run that was ordered. */
  plan(): void {
    const end = this.#order.length;
    for (let at = this.#planned; at < end; at += 1) {
      const step = this.#order.step(at);
      for (const { first } of this.#order.races(at)) this.#planReversal(first, at);
      this.#planHeldUp(at, step, end);
      for (let before = 0; before < at; before += 1) {
        if (this.#order.happensBefore(before, at)) continue;
        this.#planBeforeSleepers(before, at, step);
        this.#planBeforeWaiting(before, at, step);
      }
    }
    this.#planned = end;
  }

  /** The steps before the last decision that changed are those of the run before, but for what they accessed late. */
  #forgetLate(): void {
    const known = this.#order.steps;
    const first = known.findIndex((step, at) => {
      const now = (this.#nodes[at] as SessionNode).step;
      return step.footprint.hasLateAccesses || now?.footprint.hasLateAccesses === true;
    });
    if (first >= 0) this.cutTo(first);
  }

  /** The second step of a race before the first: a session on the way to it has to be tried where the first was taken. */
  #planReversal(first: number, second: number): void {
    const node = this.#nodes[first] as SessionNode;
    const { process } = this.#order.step(second);
    const initials = this.#order.initials(this.#order.wayTo(second, first));
    // It waits for the first step, or is not there before it: the two cannot be taken in the other order.
    if (initials.length === 1 && initials[0] === process && !node.ready.includes(process)) return;
    this.#planOneOf(node, initials);
  }

  /** A step of the sleep set of a place is skipped until a dependent step runs: one that could come first there has to be tried. */
  #planBeforeSleepers(place: number, at: number, step: Step): void {
    const node = this.#nodes[place] as SessionNode;
    for (const [process, sleeping] of node.sleep) {
      if (process === step.process || !this.lateConflicts.mayDepend(sleeping, step)) continue;
      const initials = this.#order.initials(this.#order.wayTo(at, place));
      if (node.planned.has(process)) this.#planOneOf(node, initials);
      else node.ifPlanned.set(`${process} ${initials.join()}`, { process, initials });
    }
  }

  /**
   * A session waits while a step is taken that may decide how long. That is no race: the session continues after the end of what held it up. It could
   * have continued before that step, if it was ready.
   */
  #planHeldUp(at: number, step: Step, end: number): void {
    const node = this.#nodes[at] as SessionNode;
    const next = this.#nodes[at + 1];
    if (next?.kind === 'session' && at + 1 < end)
      for (const process of node.ready)
        if (process !== step.process && !next.ready.includes(process)) this.#planOneOf(node, [process]);
    for (const waiting of this.#waitingAt(at, at))
      if (node.ready.includes(waiting.process) && areDependent(waiting, step)) this.#planOneOf(node, [waiting.process]);
  }

  /** The same session could have continued after another step that decides how long it waits. */
  #planBeforeWaiting(place: number, at: number, step: Step): void {
    const taken = this.#order.step(place);
    for (const waiting of this.#waitingAt(place, at))
      if (areDependent(waiting, taken) && areDependent(waiting, step))
        this.#planOneOf(this.#nodes[place] as SessionNode, this.#order.initials(this.#order.wayTo(at, place)));
  }

  /** Steps before `place` that began to wait and still waited at `at`. */
  #waitingAt(place: number, at: number): Step[] {
    const waiting: Step[] = [];
    const gone = new Set<string>();
    for (let index = at - 1; index >= 0; index -= 1) {
      const step = this.#order.step(index);
      if (!gone.has(step.process) && index < place && step.waits) waiting.push(step);
      gone.add(step.process);
    }
    waiting.push(...this.alreadyWaiting.filter(({ process }) => !gone.has(process)));
    return waiting;
  }

  /** A process of the sleep set first: planning it makes no run, but steps that depend on its step may then have to be tried. */
  #planOneOf(node: SessionNode, processes: readonly string[]): void {
    if (processes.some((process) => node.planned.has(process))) return;
    const planned =
      processes.find((process) => node.sleep.has(process)) ?? node.ready.find((each) => processes.includes(each));
    if (planned === undefined) {
      for (const process of node.ready) node.planned.add(process);
      return;
    }
    node.planned.add(planned);
    for (const { process, initials } of node.ifPlanned.values())
      if (node.planned.has(process)) this.#planOneOf(node, initials);
  }
}
