/**
 * Courses with a capacity, and students who enroll (MonkeyDB, OOPSLA 2021, section 7.1; Nair et al., ESOP 2020).
 *
 * Two things should never happen: more students enrolled than a course has seats, and a student enrolled in a course that was removed.
 */
import { program, type SessionHandle } from 'moirai';

interface Course {
  open: boolean;
  capacity: number;
}

const enroll = (session: SessionHandle, student: string, course: string) =>
  session.transaction(async (t) => {
    const { open, capacity } = await t.read<Course>(`course:${course}`);
    const enrolled = await t.read<string[]>(`enrolled:${course}`);
    if (!open || enrolled.length >= capacity) return false;
    await t.write(`enrolled:${course}`, [...enrolled, student]);
    return true;
  });

const removeCourse = (session: SessionHandle, course: string) =>
  session.transaction(async (t) => {
    const details = await t.read<Course>(`course:${course}`);
    await t.write(`course:${course}`, { ...details, open: false });
    await t.write(`enrolled:${course}`, []);
  });

const getEnrolled = (session: SessionHandle, course: string) => session.read<string[]>(`enrolled:${course}`);

export const definition = {
  initial: {
    'course:databases': { open: true, capacity: 1 },
    'course:history': { open: true, capacity: 30 },
    'enrolled:databases': [],
    'enrolled:history': [],
  },
  sessions: {
    ann: async (session: SessionHandle) => ({
      enrolled: await enroll(session, 'ann', 'databases'),
      seen: await getEnrolled(session, 'databases'),
      second: await enroll(session, 'ann', 'history'),
    }),
    bob: async (session: SessionHandle) => ({
      enrolled: await enroll(session, 'bob', 'databases'),
      seen: await getEnrolled(session, 'databases'),
      second: await enroll(session, 'bob', 'history'),
    }),
    dean: async (session: SessionHandle) => {
      await removeCourse(session, 'history');
      return [await getEnrolled(session, 'history'), await getEnrolled(session, 'history')];
    },
  },
};

interface Results {
  readonly ann: { readonly enrolled: boolean };
  readonly bob: { readonly enrolled: boolean };
  readonly dean: readonly (readonly string[])[];
}

export const registrationOverflow = ({ ann, bob }: Results) =>
  !(ann.enrolled && bob.enrolled) || 'two students got the only seat in databases';

export const removedRegistration = ({ dean }: Results) =>
  dean.every((enrolled) => enrolled.length === 0) || 'a student is enrolled in history after it was removed';

export default program({
  ...definition,
  invariant: ({ results, sometimes }) => {
    sometimes('ann got into history', results.ann.second);
    const overflow = registrationOverflow(results);
    return overflow === true ? removedRegistration(results) : overflow;
  },
});
