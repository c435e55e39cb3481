/** What every benchmark gets. */
export interface BenchOptions {
  /** Under a minute, with fewer trials. */
  readonly quick: boolean;
  readonly print: (line?: string) => void;
}
