with told as (select runs.* exclude (drops), queues.drops from runs join queues using (key, seed) where runs.backend like 'linux:%'),
long as (unpivot (select rate, flows, queue, tcp, total_mbps, rtt_mean_s, jain, queue_mean_pkts, cast(drops as double) as drops,
    cast(retransmissions as double) as retransmissions from told)
  on total_mbps, rtt_mean_s, jain, queue_mean_pkts, drops, retransmissions into name metric value value)
select case metric when 'total_mbps' then 1 when 'rtt_mean_s' then 2 when 'jain' then 3 when 'queue_mean_pkts' then 4
    when 'drops' then 5 else 6 end as "table",
  rate, flows, queue, tcp, metric, printf('%.5g', value) as value
from long where value is not null
order by "table", cast(split_part(rate, ' ', 1) as int), cast(flows as int), queue, tcp
