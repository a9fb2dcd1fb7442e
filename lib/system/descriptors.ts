// The descriptors of the process: its open files and connections.

/** How many descriptors the process may have open; NaN: there is no limit, or it is not known. */
export function mostDescriptors(): number {
  const { report } = process as { report: { excludeNetwork?: boolean; getReport(): object } };
  const { excludeNetwork = false } = report;
  // Otherwise the report looks up the names of addresses.
  report.excludeNetwork = true;
  const { userLimits } = report.getReport() as { readonly userLimits?: { readonly open_files?: { readonly soft?: number | string } } };
  report.excludeNetwork = excludeNetwork;
  return Number(userLimits?.open_files?.soft);
}
