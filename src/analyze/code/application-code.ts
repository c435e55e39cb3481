/** The application's own functions, as the analysis calls them. Importing and calling them is the command line's. */
import type { Duplex } from 'node:stream';
import type { ExportedFunction } from '../application.ts';

export interface ApplicationCode {
  /**
   * Calls a function of an import of the application.
   * @param application by number: the first call of each imports it
   * @param connect what the connections that the call makes come to; they end with the call
   */
  call(application: number, call: UnitCall, connect: () => Duplex): Promise<CallOutcome>;
  /** The next call imports it anew. */
  forget(application: number): Promise<void>;
}

/** Plain data. */
export type UnitCall =
  | { readonly kind: 'function'; readonly of: ExportedFunction; readonly arguments: readonly unknown[] }
  | {
      readonly kind: 'handlers';
      readonly of: readonly ExportedFunction[];
      readonly request: Readonly<Record<string, unknown>>;
    };

export type CallOutcome =
  | { readonly kind: 'returned' }
  | { readonly kind: 'threw'; readonly error: string }
  /** It was not called, or did not end: a clause. */
  | { readonly kind: 'failed'; readonly reason: string };
