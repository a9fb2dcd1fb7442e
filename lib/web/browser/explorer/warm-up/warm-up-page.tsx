// What is shown until the node answers: what it is waiting for.

import { useTitle } from '../frame/page';
import { useSession } from '../state/session';
import { JobBar } from './job-bar';

export function WarmUpPage() {
  const { status } = useSession();
  const now = status?.jobs.find(({ state }) => state === 'running');
  const part = now?.part === undefined ? '' : `${Math.floor(now.part * 100)} % · `;
  useTitle(`${part}Getting ready`);
  if (status === undefined) return <p class="quiet loading">Asking the node …</p>;
  return (
    <section class="card warm-up" aria-labelledby="warm-up">
      <h1 id="warm-up">The node is getting ready</h1>
      <p class="quiet">
        This page turns into the explorer by itself. Until then requests are answered with: <em>{status.why}</em>
      </p>
      <div class="jobs">
        {status.jobs.map((job) => (
          <JobBar key={job.name} job={job} />
        ))}
      </div>
    </section>
  );
}
