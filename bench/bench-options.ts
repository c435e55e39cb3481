/** What every benchmark gets. */
export interface BenchOptions {
  /** Under a minute, with fewer trials. */
  readonly quick: boolean;
  /** Where plots are written, for benchmarks that have some; `null` or absent: nowhere. */
  readonly svgFolder?: string | null;
  /** `--NAME=VALUE` of the benchmark's own. */
  readonly settings?: ReadonlyMap<string, string>;
  readonly print: (line?: string) => void;
}
