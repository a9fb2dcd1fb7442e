import { amountText, type Sats } from './amounts';
import { UNIT, useSetting } from './settings';

/** An amount in the unit that the reader has chosen; its last zeros are paler. `data-sats` has it whole. */
export function Amount({ sats, signed = false }: { readonly sats: Sats; readonly signed?: boolean }) {
  const { sign, digits, zeros, unit } = amountText(sats, useSetting(UNIT), signed);
  return (
    <span class="amount" data-sats={String(sats)}>
      {sign}
      {digits}
      <span class="faint">{zeros}</span> <span class="unit">{unit}</span>
    </span>
  );
}
