with long as (unpivot (select rate, flows, queue, tcp, total_mbps, rtt_mean_s, jain, queue_mean_pkts, drop_pct, retransmitted_pct
  from runs where backend like 'linux:%') on total_mbps, rtt_mean_s, jain, queue_mean_pkts, drop_pct, retransmitted_pct
  into name metric value value)
select case metric when 'total_mbps' then 1 when 'rtt_mean_s' then 2 when 'jain' then 3 when 'queue_mean_pkts' then 4
    when 'drop_pct' then 5 else 6 end as "table",
  rate, flows, queue, tcp, metric, printf('%.5g', value) as value
from long where value is not null
order by "table", cast(split_part(rate, ' ', 1) as int), cast(flows as int), queue, tcp
