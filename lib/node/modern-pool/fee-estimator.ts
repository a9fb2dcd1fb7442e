// What bcoin's fee estimator counts. It follows entries of the pool by itself, but knows nothing of fee rates below its own relay fee, and
// leaves out transactions whose coins are large and old, which its own pool may take for nothing.

import { LIMITS } from '../../policy/limits';
import type { HostFees } from '../host';

/** To be called before the estimates on the disk are loaded. */
export function countAllFees(fees: HostFees): void {
  fees.minTrackedFee = LIMITS.relayRate;
  fees.init();
  fees.minTrackedPri = Infinity;
  const inject = fees.inject.bind(fees);
  // Estimates that were made without the low rates would stay without them.
  fees.inject = (saved) => ((saved.feeStats.buckets[0] ?? Infinity) <= LIMITS.relayRate ? inject(saved) : fees);
}
