/** A bug as people make them: a comparison that is off by one, a condition forgotten in a rare branch, a lock that is not released. */

export interface PlantedBug {
  readonly name: string;
  readonly file: string;
  /** Is once in the file. */
  readonly before: string;
  readonly after: string;
  /** What then goes wrong. */
  readonly why: string;
  /** Test files that should see it. */
  readonly tests: readonly string[];
}
