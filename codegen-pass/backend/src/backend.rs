//! rustc's LLVM backend, with one query changed.
//!
//! Every method of the trait is forwarded by name, also those with a default: the default of one that the LLVM backend
//! overrides would otherwise be used in silence. A test compares the names here with those of the trait.

use crate::{level, pass};
use rustc_codegen_llvm::LlvmCodegenBackend;
use rustc_codegen_ssa::traits::CodegenBackend;
use rustc_codegen_ssa::{CompiledModules, CrateInfo, TargetConfig};
use rustc_data_structures::fx::FxIndexMap;
use rustc_interface::DEFAULT_QUERY_PROVIDERS;
use rustc_metadata::EncodedMetadata;
use rustc_metadata::creader::MetadataLoaderDyn;
use rustc_middle::dep_graph::{WorkProduct, WorkProductId};
use rustc_middle::mir::Body;
use rustc_middle::ty::TyCtxt;
use rustc_middle::util::Providers;
use rustc_session::Session;
use rustc_session::config::{CrateType, OutputFilenames, PrintRequest};
use rustc_span::Symbol;
use rustc_span::def_id::LocalDefId;
use std::any::Any;

/// The backend that rustc gets to see.
pub struct LatchBackend {
    llvm: Box<dyn CodegenBackend>,
}

impl LatchBackend {
    /// Wraps a new LLVM backend.
    #[expect(clippy::new_without_default, reason = "rustc makes one, and asks for it by another name")]
    pub fn new() -> LatchBackend {
        LatchBackend { llvm: LlvmCodegenBackend::new() }
    }
}

#[deny(clippy::missing_trait_methods)]
impl CodegenBackend for LatchBackend {
    fn name(&self) -> &'static str {
        self.llvm.name()
    }

    fn init(&self, sess: &Session) {
        self.llvm.init(sess);
    }

    fn print(&self, req: &PrintRequest, out: &mut String, sess: &Session) {
        self.llvm.print(req, out, sess);
    }

    fn target_config(&self, sess: &Session) -> TargetConfig {
        self.llvm.target_config(sess)
    }

    fn supported_crate_types(&self, sess: &Session) -> Vec<CrateType> {
        self.llvm.supported_crate_types(sess)
    }

    fn print_passes(&self) {
        self.llvm.print_passes();
    }

    fn print_version(&self) {
        self.llvm.print_version();
    }

    fn replaced_intrinsics(&self) -> Vec<Symbol> {
        self.llvm.replaced_intrinsics()
    }

    fn thin_lto_supported(&self) -> bool {
        self.llvm.thin_lto_supported()
    }

    fn has_zstd(&self) -> bool {
        self.llvm.has_zstd()
    }

    fn metadata_loader(&self) -> Box<MetadataLoaderDyn> {
        self.llvm.metadata_loader()
    }

    fn provide(&self, providers: &mut Providers) {
        self.llvm.provide(providers);
        providers.queries.optimized_mir = optimized_mir;
    }

    fn target_cpu(&self, sess: &Session) -> String {
        self.llvm.target_cpu(sess)
    }

    fn codegen_crate<'tcx>(&self, tcx: TyCtxt<'tcx>, crate_info: &CrateInfo) -> Box<dyn Any> {
        // Asked for here too, so that a misspelt level is an error also where no hint is dropped.
        let _ = level::of(tcx.sess, None);
        self.llvm.codegen_crate(tcx, crate_info)
    }

    fn join_codegen(
        &self,
        ongoing_codegen: Box<dyn Any>,
        sess: &Session,
        outputs: &OutputFilenames,
    ) -> (CompiledModules, FxIndexMap<WorkProductId, WorkProduct>) {
        self.llvm.join_codegen(ongoing_codegen, sess, outputs)
    }

    fn print_pass_timings(&self) {
        self.llvm.print_pass_timings();
    }

    fn print_statistics(&self) {
        self.llvm.print_statistics();
    }

    fn link(
        &self,
        sess: &Session,
        compiled_modules: CompiledModules,
        crate_info: CrateInfo,
        metadata: EncodedMetadata,
        outputs: &OutputFilenames,
    ) {
        self.llvm.link(sess, compiled_modules, crate_info, metadata, outputs);
    }
}

/// rustc's MIR passes, then ours.
///
/// A provider is a plain function, so what it continues must be found without any state of the session: it is the
/// provider that rustc itself starts from. Nothing stands between the two, since rustc asks the backend for its
/// providers first, and the LLVM backend has none for this query.
fn optimized_mir(tcx: TyCtxt<'_>, def: LocalDefId) -> &Body<'_> {
    let body = (DEFAULT_QUERY_PROVIDERS.queries.optimized_mir)(tcx, def);
    match pass::run(tcx, body) {
        Some(rewritten) => tcx.arena.alloc(rewritten),
        None => body,
    }
}
