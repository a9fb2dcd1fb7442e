import { useRef } from 'preact/hooks';
import { grouped } from '../../parts/amounts';
import { duration } from '../../parts/times';
import { Pace } from './pace';
import type { Job } from '../../../explorer-status';

interface JobText {
  readonly title: string;
  readonly meaning: string;
}

const JOBS: Readonly<Record<Job['name'], JobText>> = {
  chain: { title: 'The node loads the chain', meaning: 'The node gets blocks from its peers and checks them.' },
  index: { title: 'The index catches up', meaning: 'Each block is taken into the index that answers are made from.' },
  rehearsal: { title: 'Warming up', meaning: 'The node asks itself what clients ask, so that the first answers are quick.' },
  scripts: { title: 'The index by script', meaning: 'Finds histories, coins and spends by address.' },
  backfill: {
    title: 'Positions of earlier transactions',
    meaning: 'The index began with the coins of the node; earlier transactions are found afterwards.'
  },
  filters: { title: 'Block filters', meaning: 'A filter of each block, for wallets that keep their addresses to themselves.' },
  addresses: { title: 'The list of addresses', meaning: 'Finds addresses by how they begin.' }
};

const STATES = { waiting: 'waiting', running: 'under way', done: 'done', failed: 'failed: the log of the node says why' } as const;

/** How far a piece of work is, as a bar with the time that is left. */
export function JobBar({ job }: { readonly job: Job }) {
  const { name, state, step, done, total, unit } = job;
  const pace = useRef(new Pace());
  const part = state === 'done' ? 1 : job.part;
  const measured = state === 'running' && part !== undefined ? pace.current.secondsLeft(part, performance.now()) : undefined;
  const left = job.secondsLeft ?? measured;
  const percent = part === undefined ? undefined : Math.floor(part * 1_000) / 10;
  const { title, meaning } = JOBS[name];
  return (
    <div class={`job ${state}`} data-job={name}>
      <div class="job-head">
        <p class="job-title">{title}</p>
        <span class="job-state">{state === 'running' && percent !== undefined ? `${percent.toFixed(1)} %` : STATES[state]}</span>
      </div>
      <div
        class="track"
        role="progressbar"
        aria-label={title}
        aria-valuemin={0}
        aria-valuemax={100}
        {...(percent !== undefined && { 'aria-valuenow': percent })}
        aria-valuetext={state === 'running' && percent !== undefined ? `${percent} percent` : STATES[state]}
      >
        <div
          class={part === undefined && state === 'running' ? 'part unknown' : 'part'}
          style={{ width: `${(part ?? (state === 'running' ? 0.3 : 0)) * 100}%` }}
        />
      </div>
      <p class="quiet small">
        {[
          state === 'running' ? step : undefined,
          done !== undefined && total !== undefined && state === 'running'
            ? `${grouped(done)} of ${grouped(total)} ${unit ?? ''}`
            : undefined,
          left !== undefined && state === 'running' ? `${duration(left)} left` : undefined
        ]
          .filter((text) => text !== undefined)
          .join(' · ') || meaning}
      </p>
    </div>
  );
}
