import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.utility.DockerImageName;

/** A Scrip sandbox; for example as a static field with @Container. */
public class ScripContainer extends GenericContainer<ScripContainer> {
  public static final String SANDBOX_TOKEN = "for-tests";

  public ScripContainer() {
    super(DockerImageName.parse("registry.example.com/scrip"));
    withCommand("serve", "--rate-limit", "off", "--sandbox-token", SANDBOX_TOKEN);
    withExposedPorts(4747);
    waitingFor(Wait.forHttp("/readyz").forPort(4747));
  }

  public String url() {
    return "http://" + getHost() + ":" + getMappedPort(4747);
  }
}
