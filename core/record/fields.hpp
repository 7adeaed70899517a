// The fields of every record of a run's folder.
#pragma once

#include "core/record/energy_record.hpp"
#include "core/record/field.hpp"
#include "core/record/load_record.hpp"
#include "core/record/prediction_record.hpp"
#include "core/record/rank_state.hpp"
#include "core/record/run_record.hpp"
#include "core/record/study_record.hpp"

namespace dt {

Fields<Submission> submission_fields();
Fields<Deferral> deferral_fields();
Fields<BeginRecord> begin_fields();
Fields<RankError> error_fields();
Fields<FailureCause> failure_cause_fields();
Fields<Preemption> preemption_fields();
// The lines of events.log. The order is that of a line.
Fields<StepEvent> step_event_fields();
Fields<EvalEvent> eval_event_fields();
// result.json, without its ranks and buckets. The order is that of the table `results` and of `dtctl show`.
Fields<RunResult> result_fields();
// A rank of result.json, without its phases.
Fields<RankRecord> rank_fields();
// A bucket of result.json.
Fields<BucketRecord> bucket_fields();
// The times of one phase of a rank.
Fields<PhaseStats> phase_fields();
// probe.json, without its ranks; and one of these.
Fields<ProbeRecord> probe_fields();
Fields<RankProbe> rank_probe_fields();
// A machine of load.json.
Fields<NodeLoad> node_load_fields();
// A node of energy.json, without its GPUs; and one of these.
Fields<NodeEnergy> node_energy_fields();
Fields<GpuEnergy> gpu_energy_fields();
Fields<RankState> rank_state_fields();
// stall.json, without its ranks; and a rank that has not arrived.
Fields<StallRecord> stall_fields();
Fields<MissingRank> missing_rank_fields();
Fields<StudyRecord> study_fields();
// Those that the database stores, too.
Fields<StudyRecord> stored_study_fields();
Fields<PredictionRecord> prediction_fields();

} // namespace dt
