/** What a witness comes to: transactions with arguments, on rows. Plain data, which programs of `moirai analyze --out` have in them. */
import type { IsolationName } from '../sql/index.ts';
import type { AnyStep, Dialect } from './application.ts';
import type { Arguments } from './run-steps.ts';

/** A few transactions on a few rows. */
export interface WitnessDefinition {
  readonly dialect: Dialect;
  /** Tables, then rows. */
  readonly schema: readonly string[];
  readonly sessions: readonly WitnessSession[];
  /** Queries that together show the final state, each in one order. */
  readonly state: readonly string[];
  /** Columns that are not compared: what sequences give, and clocks. */
  readonly ignored: readonly string[];
  /** What a serial order has to explain beside the final state: what the sessions wrote, whichever of them did, or what they read. */
  readonly compared: 'state and writes' | 'state and reads';
}

/** One instance of a transaction, or of a unit. Names are unique. */
export interface WitnessSession {
  readonly name: string;
  /** `transactions of their own`: the steps of a unit as the application runs them. */
  readonly scope: 'one transaction' | 'transactions of their own';
  /** Of the transaction, or of the unit's transactions that name none. */
  readonly level: IsolationName;
  readonly arguments: Arguments;
  readonly steps: readonly AnyStep[];
  /** Texts of UPDATEs and DELETEs that refuse the run where they find no row: the code then says so. */
  readonly guards: readonly string[];
}

/** `internal`: the final state is that of no serial order. `external`: only what the transactions read is. `overwritten`: only what units wrote on the way is. */
export type AnomalyKind = 'internal' | 'external' | 'overwritten';
