/** Randomness of moirai's own: for secrets, never for results. */
import { randomBytes } from 'node:crypto';

/** `size` bytes. Taken once, before programs are loaded: theirs is forced, and secrets are none of it. */
export const secretBytes: (size: number) => Uint8Array = randomBytes;
