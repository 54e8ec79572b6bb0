with runs_long as (unpivot (select rate, queue, mix, total_mbps, rtt_mean_s, jain, queue_mean_pkts, drop_pct, retransmitted_pct
  from runs where backend like 'linux:%') on total_mbps, rtt_mean_s, jain, queue_mean_pkts, drop_pct, retransmitted_pct
  into name metric value value),
groups_long as (select groups.mix, groups.rate, groups.queue, groups.algorithm, 'avg_mbps' as metric, groups.avg_mbps as value
  from groups where backend like 'linux:%'),
told as (
  select case mix when 'cubic + bbr' then 1 else 2 end as "table", rate, queue, algorithm as mix, metric, value from groups_long
  union all
  select case metric when 'total_mbps' then 3 when 'rtt_mean_s' then 4 when 'jain' then 5 when 'queue_mean_pkts' then 6
    when 'drop_pct' then 7 else 8 end, rate, queue, mix, metric, value from runs_long)
select "table", rate, queue, mix, metric, printf('%.5g', value) as value from told where value is not null
order by "table", cast(split_part(rate, ' ', 1) as int), queue, mix
