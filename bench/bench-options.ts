/** What every benchmark gets. */
export interface BenchOptions {
  /** Under a minute, with fewer trials. */
  readonly quick: boolean;
  /** Where plots are written, for benchmarks that have some; `null` or absent: nowhere. */
  readonly svgFolder?: string | null;
  readonly print: (line?: string) => void;
}
